import { Worker } from 'node:worker_threads'
import type { BatchAnswer, BatchRequest } from './messages.ts'

const HEAP_MB = 64

type Bytes = BatchAnswer['bytes']

/**
 * The thread that reads for all restores of this process. It is started by the first one and then waits
 * for the next, which takes a fraction of the time; waiting it keeps no process alive.
 */
class BlockReader {
  readonly #waiting = new Map<number, (bytes: Bytes) => void>()
  readonly #worker: Worker
  #users = 0
  #lastId = 0
  isOver = false

  constructor() {
    this.#worker = new Worker(threadUrl(), {
      // No flag, variable or output of the process is that of a thread.
      execArgv: ['--no-warnings'],
      argv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    this.#worker.on('message', ({ id, bytes }: BatchAnswer) => this.#answer(id, bytes))
    this.#worker.on('error', () => this.#end())
    this.#worker.on('exit', () => this.#end())
  }

  /** While it has users it keeps the process alive. */
  use(): void {
    this.#users += 1
    this.#worker.ref()
  }

  leave(): void {
    this.#users -= 1
    if (this.#users === 0) this.#worker.unref()
  }

  /**
   * @param onAnswer Not called for a batch that somebody else has claimed.
   * @returns what forgets the request.
   */
  ask(request: Omit<BatchRequest, 'id'>, onAnswer: (bytes: Bytes) => void): () => void {
    this.#lastId += 1
    const id = this.#lastId
    this.#waiting.set(id, onAnswer)
    if (this.isOver) this.#end()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    else this.#worker.postMessage({ id, ...request })
    return () => this.#waiting.delete(id)
  }

  #answer(id: number, bytes: Bytes): void {
    this.#waiting.get(id)?.(bytes)
    this.#waiting.delete(id)
  }

  /** Whoever waits reads for itself. */
  #end(): void {
    this.isOver = true
    for (const id of this.#waiting.keys()) this.#answer(id, undefined)
  }
}

export type { BlockReader }

let current: BlockReader | undefined

/** The one of this process; a new one when the last has failed. */
export function blockReader(): BlockReader {
  if (current === undefined || current.isOver) current = new BlockReader()
  return current
}

function threadUrl(): URL {
  const isSource = import.meta.url.endsWith('.ts')
  return new URL(isSource ? '../../block-thread.ts' : './block-thread.js', import.meta.url)
}
