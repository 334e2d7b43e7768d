// A process that dies at one of its operations on the stores: from then on nothing it does arrives.
import type { SessionStateStore, StreamManager, StreamWriter } from '@helix-agents/core/runtime'

/**
 * What happens to the operation at which the process dies: it never reaches the store, it does
 * and the answer gets lost, or it does and no answer comes at all.
 */
export type Death = 'before-it-arrives' | 'after-it-arrived' | 'without-an-answer'

export const DEATHS: readonly Death[] = [
  'before-it-arrives',
  'after-it-arrived',
  'without-an-answer',
]

/** Counts the operations of one process, on all its stores, and ends it at one of them. */
export class DoomedProcess {
  readonly #atOperation: number
  readonly #death: Death
  /** The names of the operations that arrived. */
  readonly operations: string[] = []
  #started = 0

  /** Dies at the n-th operation, counted from 1; `Infinity` lives. */
  constructor(atOperation: number, death: Death = 'before-it-arrives') {
    this.#atOperation = atOperation
    this.#death = death
  }

  get isDead(): boolean {
    return this.#started >= this.#atOperation
  }

  async run<T>(name: string, operation: () => Promise<T>): Promise<T> {
    this.#started += 1
    const isLast = this.#started === this.#atOperation
    const arrives = !this.isDead || (isLast && this.#death !== 'before-it-arrives')
    let result: T | undefined
    if (arrives) {
      this.operations.push(name)
      result = await operation()
    }
    if (!this.isDead || (arrives && !isLast)) return result as T
    if (this.#death === 'without-an-answer') return new Promise<never>(() => {})
    throw new Error('the process is dead')
  }
}

/** A store on which the process dies at its n-th operation; reads count as well. */
export function failingStore(
  store: SessionStateStore,
  atOperation: number | DoomedProcess,
  death?: Death,
): SessionStateStore {
  const doomed =
    typeof atOperation === 'number' ? new DoomedProcess(atOperation, death) : atOperation
  return counted(store, doomed)
}

/** The streams of such a process: what it writes counts as well. */
export function failingStreams(streams: StreamManager, doomed: DoomedProcess): StreamManager {
  const writerOf = (writer: StreamWriter): StreamWriter => ({
    write: (chunk) => doomed.run(`write ${chunk.type}`, () => writer.write(chunk)),
  })
  return {
    ...counted(streams, doomed),
    startRun: (...run) =>
      doomed.run('startRun', async () => writerOf(await streams.startRun(...run))),
    resumeRun: (...run) =>
      doomed.run('resumeRun', async () => writerOf(await streams.resumeRun(...run))),
    endRun: (...run) => doomed.run('endRun of the stream', () => streams.endRun(...run)),
    read: (...args) => streams.read(...args),
    deleteStream: (streamId) => doomed.run('deleteStream', () => streams.deleteStream(streamId)),
  }
}

/** Methods of a class do not spread: a proxy counts them all. */
function counted<T extends object>(inner: T, doomed: DoomedProcess): T {
  return new Proxy(inner, {
    get(target, key) {
      const method = Reflect.get(target, key) as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) =>
        doomed.run(String(key), () => Promise.resolve(method.apply(target, args)))
    },
  })
}
