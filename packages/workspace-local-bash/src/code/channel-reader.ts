import { decodeBase64 } from '@helix-agents/core/provider'
import type { CodeOutput } from '@helix-agents/core/provider'

/** What an interpreter reports of a run. */
export type ChannelEvent =
  | { readonly type: 'output'; readonly output: CodeOutput }
  | { readonly type: 'error'; readonly error: CodeError }
  | { readonly type: 'done'; readonly status: number }

/** What the interpreter said when the code threw. */
export interface CodeError {
  readonly name: string
  readonly message: string
  readonly trace?: string
}

/** Of one run, with its results, errors and displays. */
const MAX_RUN_BYTES = 12 * 1024 * 1024
/** To parse more at once would hold the event loop. */
const MAX_JSON_BYTES = 1024 * 1024
const NEWLINE = 10

/** Reads the lines of a channel; the code itself may have written one, so nothing about it is certain. */
export class ChannelReader {
  readonly #onEvent: (event: ChannelEvent) => void
  #mark = ''
  #bytes = 0
  #line: Uint8Array[] = []

  constructor(onEvent: (event: ChannelEvent) => void) {
    this.#onEvent = onEvent
  }

  begin(mark: string): void {
    this.#mark = mark
    this.#bytes = 0
    this.#line = []
  }

  add(piece: Uint8Array): void {
    let rest = piece
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      this.#hold(rest.subarray(0, end))
      this.#read(Buffer.concat(this.#line))
      this.#line = []
      rest = rest.subarray(end + 1)
    }
    this.#hold(rest)
  }

  /** What is too much is dropped, the end of the run never: it is a short line. */
  #hold(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    if (this.#bytes <= MAX_RUN_BYTES) this.#line.push(Uint8Array.from(bytes))
    else if (bytes.length <= MAX_JSON_BYTES) this.#line = [Uint8Array.from(bytes)]
    else this.#line = []
  }

  #read(line: Buffer): void {
    const [mark, kind, ...words] = line.subarray(0, 200).toString('latin1').split(' ')
    if (mark !== this.#mark || mark === '') return
    const start = mark.length + 3
    const event =
      kind === 'D'
        ? readDisplay(words[0] ?? '', line.subarray(start))
        : readJson(line.subarray(start))
    if (event !== undefined) this.#onEvent(event)
  }
}

function readDisplay(mime: string, line: Buffer): ChannelEvent | undefined {
  try {
    const data = decodeBase64(line.subarray(mime.length + 1).toString('latin1'))
    return { type: 'output', output: { type: 'display', mime: mime.slice(0, 100), data } }
  } catch {
    // What code displays is not always what it says.
    return undefined
  }
}

function readJson(line: Buffer): ChannelEvent | undefined {
  if (line.length > MAX_JSON_BYTES) return undefined
  const event = parse(line.toString())
  switch (field(event, 'type')) {
    case 'result': {
      const value = field(event, 'json') ?? field(event, 'text')
      return { type: 'output', output: { type: 'result', value } }
    }
    case 'error': {
      const trace = textOf(event, 'trace')
      const error = { name: textOf(event, 'name') || 'Error', message: textOf(event, 'message') }
      return { type: 'error', error: { ...error, ...(trace !== '' && { trace }) } }
    }
    case 'done': {
      const status = field(event, 'status')
      return { type: 'done', status: typeof status === 'number' ? status : 1 }
    }
    default:
      return undefined
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Cut off, or not written by the program.
    return undefined
  }
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return Reflect.get(value, name)
}

function textOf(event: unknown, name: string): string {
  const value = field(event, name)
  return typeof value === 'string' ? value : ''
}
