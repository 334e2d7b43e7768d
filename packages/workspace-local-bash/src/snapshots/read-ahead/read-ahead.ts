import { type BlockReader, blockReader } from './block-reader.ts'
import type { BatchAnswer, BlockBatch } from './messages.ts'

/** Batches that are asked for before they are needed: bounds what is in memory. */
const AHEAD = 4

type Bytes = BatchAnswer['bytes']

interface Asked {
  readonly forget: () => void
}

/** A batch that is to be written. */
export interface NextBatch {
  readonly index: number
  /** Absent: the caller reads them, and finds out what is wrong with them. */
  readonly blocks: ReadonlyMap<string, Uint8Array> | undefined
}

/**
 * Has a thread read the blocks of a restore and compare them with their hashes, while others are
 * written. It only helps: what it has not begun, or could not read, the restore reads itself, so that
 * a thread that gets no processor delays one batch at most.
 */
export class ReadAhead {
  readonly #directory: string
  readonly #batches: readonly BlockBatch[]
  readonly #claims: SharedArrayBuffer
  readonly #claimed: Int32Array<SharedArrayBuffer>
  /** Not yet answered or given out, in ascending order. */
  readonly #asked = new Map<number, Asked>()
  readonly #answers: { readonly index: number; readonly bytes: Bytes }[] = []
  readonly #reader: BlockReader = blockReader()
  #onAnswer: () => void = () => {}
  #next = 0

  /** @param directory Of the blocks of one scope. */
  constructor(directory: string, batches: readonly BlockBatch[]) {
    this.#directory = directory
    this.#batches = batches
    this.#claims = new SharedArrayBuffer(batches.length * Int32Array.BYTES_PER_ELEMENT)
    this.#claimed = new Int32Array(this.#claims)
    this.#reader.use()
  }

  /** The next batch, each once and in any order; undefined at the end. */
  async next(): Promise<NextBatch | undefined> {
    this.#ask()
    // Answers come between turns.
    if (this.#answers.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const found = this.#takeAnswer() ?? this.#claim()
    if (found !== undefined || this.#asked.size === 0) return found
    // The thread reads the last ones.
    await new Promise<void>((resolve) => {
      this.#onAnswer = resolve
    })
    return this.#takeAnswer()
  }

  close(): void {
    this.#claimed.fill(1)
    for (const asked of this.#asked.values()) asked.forget()
    this.#reader.leave()
  }

  #ask(): void {
    while (this.#asked.size + this.#answers.length < AHEAD) {
      const [index, batch] = [this.#next, this.#batches[this.#next]]
      if (batch === undefined) return
      this.#next += 1
      const { hashes, lengths } = batch
      const request = { directory: this.#directory, claims: this.#claims, index, hashes, lengths }
      // A thread that has failed answers at once.
      let isAnswered = false
      const forget = this.#reader.ask(request, (bytes) => {
        isAnswered = true
        this.#asked.delete(index)
        this.#answers.push({ index, bytes })
        this.#onAnswer()
      })
      if (!isAnswered) this.#asked.set(index, { forget })
    }
  }

  #takeAnswer(): NextBatch | undefined {
    const answer = this.#answers.shift()
    const batch = answer && this.#batches[answer.index]
    if (answer === undefined || batch === undefined) return undefined
    const { index, bytes } = answer
    return { index, blocks: bytes && split(bytes, batch) }
  }

  /** One that the thread has not begun; of these it comes to the last one at last. */
  #claim(): NextBatch | undefined {
    for (const [index, { forget }] of [...this.#asked].toReversed()) {
      if (Atomics.exchange(this.#claimed, index, 1) === 1) continue
      forget()
      this.#asked.delete(index)
      return { index, blocks: undefined }
    }
    return undefined
  }
}

function split(
  bytes: Uint8Array<ArrayBuffer>,
  { hashes, lengths }: BlockBatch,
): ReadonlyMap<string, Uint8Array> {
  const blocks = new Map<string, Uint8Array>()
  let at = 0
  for (const [index, hash] of hashes.entries()) {
    const end = at + (lengths[index] ?? 0)
    blocks.set(hash, bytes.subarray(at, end))
    at = end
  }
  return blocks
}
