// Providers in miniature: they read requests as strictly as the real ones, and stream what a brain
// plans. A platform puts `WireReply` onto its connection.
import type {
  PlannedFailure,
  PlannedTurn,
  SeenCall,
} from '@helix-agents/workspace-conformance/model'

export type Json = Readonly<Record<string, unknown>>

/** What a provider answers. */
export interface WireReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parts of the body, in the order in which they are sent. */
  readonly frames: readonly string[]
  /** `cut`: the connection breaks; `silence`: it stays open and nothing comes. */
  readonly end: 'close' | 'cut' | 'silence'
}

/** The wire format of one provider. */
export interface WireFormat {
  /** What a request must hold besides its body. */
  readonly path: string
  /** What is wrong with a request; `undefined` for a good one. */
  problemOf(body: Json): string | undefined
  read(body: Json): Omit<SeenCall, 'headers'>
  write(turn: Extract<PlannedTurn, { type: 'answer' }>): readonly string[]
  /** The frame by which the provider reports an error in the middle of a stream. */
  writeError(message: string): string
  failures: Readonly<Record<PlannedFailure, readonly [status: number, body: Json]>>
  fail(message: string): Json
}

export type Brain = (call: SeenCall, index: number) => PlannedTurn | Promise<PlannedTurn>

/** The key that clients have to send, and what the provider quotes. */
export const KEY = 'sk-wire-0123456789abcdef'

/** A provider that speaks a format, with a brain behind it. */
export class Wire {
  readonly format: WireFormat
  readonly calls: SeenCall[] = []
  /** What was wrong with requests that were refused. */
  readonly problems: string[] = []
  readonly #brain: Brain

  constructor(format: WireFormat, brain: Brain) {
    this.format = format
    this.#brain = brain
  }

  async answer(path: string, headers: Readonly<Record<string, string>>, text: string) {
    const { format } = this
    if (!path.endsWith(format.path)) return refuse(404, format.fail(`no such path ${path}`))
    if (!JSON.stringify(headers).includes(KEY)) return refuse(401, format.fail('no key'))
    const body = JSON.parse(text) as Json
    const problem = format.problemOf(body)
    if (problem !== undefined) {
      this.problems.push(problem)
      return refuse(400, format.fail(problem))
    }
    const call = { ...format.read(body), headers }
    this.calls.push(call)
    return this.#reply(await this.#brain(call, this.calls.length - 1))
  }

  #reply(turn: PlannedTurn): WireReply {
    const { format } = this
    if (turn.type === 'failure') {
      const [status, body] = format.failures[turn.failure]
      const { retryAfterMs } = turn
      const asked = retryAfterMs === undefined ? {} : { 'retry-after': String(retryAfterMs / 1000) }
      return refuse(status, body, asked)
    }
    const headers = { 'content-type': 'text/event-stream; charset=utf-8' }
    const frames = format.write(turn)
    if (turn.end === 'error') {
      return {
        status: 200,
        headers,
        frames: [...frames, format.writeError('Overloaded')],
        end: 'close',
      }
    }
    const end = turn.end === 'cut' || turn.end === 'silence' ? turn.end : 'close'
    return { status: 200, headers, frames, end }
  }
}

function refuse(
  status: number,
  body: Json,
  headers: Readonly<Record<string, string>> = {},
): WireReply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    frames: [JSON.stringify(body)],
    end: 'close',
  }
}

/** A frame of server-sent events. */
export function frame(data: unknown, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/** Whether an answer comes to its own end. */
export function isEnded({ end }: Extract<PlannedTurn, { type: 'answer' }>): boolean {
  return end !== 'cut' && end !== 'silence' && end !== 'error'
}

export function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : []
}

export function string(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** `data:image/png;base64,…` */
export function fileOfAddress(address: string) {
  const match = /^data:([^;]+);base64,(.*)$/.exec(address)
  return { mediaType: match?.[1] ?? '', base64: match?.[2] ?? '' }
}
