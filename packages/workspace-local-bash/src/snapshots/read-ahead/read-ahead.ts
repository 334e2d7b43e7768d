import { type BlockReader, blockReader } from './block-reader.ts'
import type { BatchAnswer, BlockBatch } from './messages.ts'

/** Batches that are asked for before they are needed: bounds what is in memory. */
const AHEAD = 3

interface Asked {
  readonly bytes: Promise<BatchAnswer['bytes']>
  readonly forget: () => void
}

/**
 * Has a thread read the blocks of a restore and compare them with their hashes, while others are
 * written. It only helps: what it has not begun, or could not read, the restore reads itself.
 */
export class ReadAhead {
  readonly #directory: string
  readonly #batches: readonly BlockBatch[]
  readonly #claims: SharedArrayBuffer
  readonly #claimed: Int32Array<SharedArrayBuffer>
  readonly #asked = new Map<number, Asked>()
  readonly #reader: BlockReader = blockReader()
  #next = 0

  /** @param directory Of the blocks of one scope. */
  constructor(directory: string, batches: readonly BlockBatch[]) {
    this.#directory = directory
    this.#batches = batches
    this.#claims = new SharedArrayBuffer(batches.length * Int32Array.BYTES_PER_ELEMENT)
    this.#claimed = new Int32Array(this.#claims)
    this.#reader.use()
  }

  /**
   * The blocks of a batch, each once and in ascending order of batches.
   * @returns undefined: the caller reads them, and finds out what is wrong with them.
   */
  async get(index: number): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
    this.#ask(index + AHEAD)
    const [asked, batch] = [this.#asked.get(index), this.#batches[index]]
    this.#asked.delete(index)
    if (asked === undefined || batch === undefined) return undefined
    if (this.#reader.isOver || Atomics.exchange(this.#claimed, index, 1) === 0) {
      asked.forget()
      return undefined
    }
    const bytes = await asked.bytes
    return bytes && split(bytes, batch)
  }

  close(): void {
    this.#claimed.fill(1)
    for (const asked of this.#asked.values()) asked.forget()
    this.#reader.leave()
  }

  #ask(until: number): void {
    for (; this.#next <= until; this.#next += 1) {
      const [index, batch] = [this.#next, this.#batches[this.#next]]
      if (batch === undefined) return
      const { hashes, lengths } = batch
      const request = { directory: this.#directory, claims: this.#claims, index, hashes, lengths }
      const { promise: bytes, resolve } = Promise.withResolvers<BatchAnswer['bytes']>()
      this.#asked.set(index, { bytes, forget: this.#reader.ask(request, resolve) })
    }
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
