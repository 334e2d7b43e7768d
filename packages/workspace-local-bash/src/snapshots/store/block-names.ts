import { createTimeSlice } from '@helix-agents/core/provider'
import type { FilePrint } from './file-print.ts'

const HASHES = /"([0-9a-f]{64})"/g

/** The blocks that manifests name. Parts that several of them share are searched once. */
export class BlockNames {
  readonly #names = new Set<string>()
  readonly #searched = new Set<string>()

  has(hash: string): boolean {
    return this.#names.has(hash)
  }

  /** @param print That of the bytes; its parts are whole lines. */
  async add(bytes: Buffer, print: FilePrint): Promise<void> {
    const slice = createTimeSlice()
    let at = 0
    for (const { length, hash } of print) {
      if (!this.#searched.has(hash)) this.#search(bytes.toString('latin1', at, at + length))
      this.#searched.add(hash)
      at += length
      if (slice.due) await slice.pause()
    }
  }

  #search(text: string): void {
    for (const [, name = ''] of text.matchAll(HASHES)) this.#names.add(name)
  }
}
