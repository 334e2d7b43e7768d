import {
  sha256,
  SNAPSHOT_BATCH_BLOCKS,
  SNAPSHOT_BATCH_BYTES,
  SNAPSHOT_BLOCK_BYTES,
  type SnapshotBlock,
} from '@helix-agents/core/provider'
import type { SnapshotSource } from './read-blocks.ts'

/** A file whose blocks are stored, or about to be. */
export interface WrittenFile {
  readonly size: number
  readonly blocks: readonly string[]
}

/** Cuts contents into blocks and stores them, many in one call. */
export class BlockWriter {
  readonly #target: SnapshotSource
  #pending = new Map<string, SnapshotBlock>()
  #pendingBytes = 0

  constructor(target: SnapshotSource) {
    this.#target = target
  }

  async write(content: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
    const blocks: string[] = []
    let size = 0
    for await (const bytes of inBlocks(content)) {
      const hash = await sha256(bytes)
      blocks.push(hash)
      size += bytes.length
      await this.#add({ hash, bytes })
    }
    return { size, blocks }
  }

  /** Stores what waits. */
  async flush(): Promise<void> {
    if (this.#pending.size === 0) return
    const blocks = [...this.#pending.values()]
    this.#pending = new Map()
    this.#pendingBytes = 0
    await this.#target.store.putBlocks(this.#target.scope, blocks)
  }

  async #add(block: SnapshotBlock): Promise<void> {
    if (this.#pending.has(block.hash)) return
    const isFull = this.#pending.size === SNAPSHOT_BATCH_BLOCKS
    if (isFull || this.#pendingBytes + block.bytes.length > SNAPSHOT_BATCH_BYTES) await this.flush()
    this.#pending.set(block.hash, block)
    this.#pendingBytes += block.bytes.length
  }
}

/** The same bytes in pieces of one block; only the last one is smaller. */
async function* inBlocks(
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let parts: Uint8Array[] = []
  let filled = 0
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + SNAPSHOT_BLOCK_BYTES - filled)
      parts.push(part)
      filled += part.length
      at += part.length
      if (filled < SNAPSHOT_BLOCK_BYTES) continue
      yield joined(parts, filled)
      parts = []
      filled = 0
    }
  }
  if (filled > 0) yield joined(parts, filled)
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    block.set(part, at)
    at += part.length
  }
  return block
}
