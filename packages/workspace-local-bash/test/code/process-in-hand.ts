import { PassThrough } from 'node:stream'
import type { ChannelProcess, StartChannelProcess } from '../../src/code/interpreter.ts'
import type { ProcessEnd } from '../../src/shell/start-process.ts'

/** The process of an interpreter, whose words, outputs and end are in the hands of a test. */
export class ProcessInHand {
  /** How it was started, and what was done with it. */
  readonly calls: string[] = []
  /** What it was told through its channel. */
  readonly heard: string[] = []
  readonly ended = Promise.withResolvers<ProcessEnd>()
  /** Settles when its outputs are read. */
  outputsEnded: Promise<void> = Promise.resolve()
  readonly channel = new PassThrough()
  readonly #sinks: ((piece: Uint8Array) => void)[] = []

  constructor() {
    this.channel.write = ((piece: string) => {
      this.heard.push(piece)
      return true
    }) as typeof this.channel.write
  }

  readonly start: StartChannelProcess = async (words, sinks) => {
    this.calls.push(words.join(' '))
    this.#sinks.push(...sinks)
    const reader = { ended: this.outputsEnded, stop: () => void this.calls.push('stop') }
    return {
      started: { pid: 7, ended: this.ended.promise, readers: [reader, reader], pipePaths: [] },
      hold: {
        end: async (ms: number) => void this.calls.push(`end ${ms}`),
        endLeftovers: async () => {},
      },
      channel: this.channel,
    } as unknown as ChannelProcess
  }

  /** Reports something of the run that it was told last. */
  say(event: object): void {
    this.channel.emit('data', Buffer.from(`${this.#mark} J ${JSON.stringify(event)}\n`))
  }

  print(at: 0 | 1, text: string): void {
    this.#sinks[at]?.(Buffer.from(text))
  }

  printMarks(): void {
    for (const at of [0, 1] as const) this.print(at, `\u001e${this.#mark}\u001e`)
  }

  /** Ends a run. */
  finish(status = 0): void {
    this.say({ type: 'done', status })
    this.printMarks()
  }

  get #mark(): string {
    return this.heard.at(-1)?.split('\0')[0] ?? ''
  }
}

/** One turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
