import type * as z from 'zod'
import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'
import { readBody } from '../../../http/read-body.ts'
import { explainIssues, parseJson, parseServerFailure } from '../../../http/server-failure.ts'

/** One call of the API of a fleet. */
export interface FleetCall {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Below the address of the fleet. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>>
}

/**
 * Sends a call and gives back what came of it; throws what a network throws. Without a signal the
 * call has a deadline of its own.
 */
export type SendFleetCall = (call: FleetCall, signal?: AbortSignal) => Promise<Response>

/** What an address answered. */
export interface FleetAnswer<T> {
  readonly body: T
  /** Where the next page begins. */
  readonly nextCursor?: string
}

const MAX_ANSWER_BYTES = 32 * 1024 * 1024

/** A fleet, behind its HTTP API or in a ledger on this machine. */
export class FleetClient {
  /** For messages. */
  readonly #place: string
  readonly #send: SendFleetCall
  readonly #startDeadline: () => AbortSignal | undefined

  /** @param startDeadline Begins the deadline of several calls together. Default: none. */
  constructor(
    place: string,
    send: SendFleetCall,
    startDeadline: () => AbortSignal | undefined = () => undefined,
  ) {
    this.#place = place
    this.#send = send
    this.#startDeadline = startDeadline
  }

  /** The same fleet, whose next calls all together have one deadline: for pages of one answer. */
  withOneDeadline(): FleetClient {
    const deadline = this.#startDeadline()
    return new FleetClient(this.#place, (call) => this.#send(call, deadline))
  }

  /** @throws {CommandError} for anything but an answer of the expected form. */
  async call<S extends z.ZodType>(
    request: FleetCall,
    schema: S,
  ): Promise<FleetAnswer<z.output<S>>> {
    const { text, cursor } = await this.#text(request)
    const body = schema.safeParse(parseJson(text))
    if (!body.success) {
      throw this.#unreachable(`this is not a fleet\n${explainIssues(body.error)}`)
    }
    return { body: body.data, ...(cursor !== undefined && { nextCursor: cursor }) }
  }

  /** The answer as it is. @throws {CommandError} */
  async text(request: FleetCall): Promise<string> {
    return (await this.#text(request)).text
  }

  async #text(request: FleetCall): Promise<{ text: string; cursor: string | undefined }> {
    const response = await this.#request(request)
    const text = await this.#read(response)
    if (!response.ok) throw this.#rejection(response.status, text)
    return { text, cursor: cursorOf(response) }
  }

  async #request(request: FleetCall): Promise<Response> {
    try {
      return await this.#send(request)
    } catch (error) {
      throw this.#unreachable(reasonOf(error), error)
    }
  }

  async #read(response: Response): Promise<string> {
    let text: string | undefined
    try {
      text = await readBody(response, MAX_ANSWER_BYTES)
    } catch (error) {
      throw this.#unreachable(reasonOf(error), error)
    }
    if (text === undefined) throw this.#unreachable('the answer is too long')
    return text
  }

  /** What the server said is shown when it is an error of a fleet, and nothing else of it. */
  #rejection(status: number, text: string): CommandError {
    const failure = parseServerFailure(text)
    if (failure === undefined || status === 401 || status === 403) {
      return this.#unreachable(`${explain(status)} (HTTP ${status})`)
    }
    const { code, message, details } = failure
    const more = details === undefined ? '' : `\ndetails: ${details}`
    const sentence = `${message} (${code}, HTTP ${status})${more}`
    if (status === 400) return new CommandError(exitCodes.usage, sentence)
    if (status === 409) return new CommandError(exitCodes.findings, sentence)
    return this.#unreachable(sentence)
  }

  #unreachable(reason: string, cause?: unknown): CommandError {
    return new CommandError(exitCodes.unreachable, `${this.#place}: ${reason}`, { cause })
  }
}

/** The address of a call below that of its fleet. */
export function addressOf(base: URL, { path, query = {} }: FleetCall): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/+$/, '') + path
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  return url
}

function cursorOf(response: Response): string | undefined {
  const target = /<(?<target>[^>]*)>; *rel="next"/.exec(response.headers.get('link') ?? '')
  const next = target?.groups?.target ?? ''
  if (!URL.canParse(next, 'http://fleet')) return undefined
  return new URL(next, 'http://fleet').searchParams.get('cursor') ?? undefined
}

function explain(status: number): string {
  if (status === 401) return 'it wants a token: $HELIX_FLEET_TOKEN or --token-file'
  if (status === 403) return 'it rejects the token'
  if (status === 404) return 'this is not a fleet'
  return status >= 300 && status < 400 ? 'the server redirects' : 'the server does not answer'
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'no answer in time (--timeout)'
  const { cause } = error
  return cause instanceof Error ? `${error.message}: ${cause.message || cause.name}` : error.message
}
