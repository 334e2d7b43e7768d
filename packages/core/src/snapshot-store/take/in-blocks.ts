import { SNAPSHOT_BLOCK_BYTES } from '../manifest.ts'

/** The same bytes in blocks, each in memory of its own; only the last one is smaller. */
export async function* inBlocks(
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let block = new Uint8Array(0)
  let filled = 0
  for await (const part of content) {
    for (let at = 0; at < part.length;) {
      const taken = part.subarray(at, at + SNAPSHOT_BLOCK_BYTES - filled)
      block = withRoom(block, filled + taken.length)
      block.set(taken, filled)
      filled += taken.length
      at += taken.length
      if (filled < SNAPSHOT_BLOCK_BYTES) continue
      yield block
      block = new Uint8Array(0)
      filled = 0
    }
  }
  if (filled > 0) yield block.slice(0, filled)
}

/** A small file needs no memory of a whole block. */
function withRoom(block: Uint8Array<ArrayBuffer>, bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes <= block.length) return block
  const room = Math.min(SNAPSHOT_BLOCK_BYTES, Math.max(bytes, 2 * block.length))
  const larger = new Uint8Array(room)
  larger.set(block)
  return larger
}
