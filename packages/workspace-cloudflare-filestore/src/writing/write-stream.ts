import { type FileStat, normalizePath } from '@helix-agents/core/provider'
import { holdsZero } from '../content/holds-zero.ts'
import type { StoreContext } from '../store-context.ts'
import { flags } from '../tree/node.ts'
import { PartBuffer } from './part-buffer.ts'
import { StagedContent } from './staged-content.ts'
import { checkGrowth, commitStaged, isSpilled, storeNow } from './write-file.ts'
import { checkWrite, resolveTarget, type Write } from '../tree/write-target.ts'

/** Without a bucket a stream goes to the database in steps of at most this size. */
const STEP_BYTES = 1024 * 1024

/**
 * Stores a stream of any size. The awaits are each piece of the source, and those of each part, as
 * in `writeFile`; until the last transaction the old file is there.
 */
export async function writeStream(
  context: StoreContext,
  write: Write,
  source: ReadableStream<Uint8Array>,
): Promise<FileStat> {
  const path = normalizePath(write.path)
  const content = new StagedContent(context)
  try {
    checkWrite(context, resolveTarget(context, path), write.options)
    return await storeStream(context, { ...write, path }, { source, content })
  } catch (error) {
    if (!source.locked) await source.cancel(error).catch(() => undefined)
    throw error
  } finally {
    content.discard()
  }
}

async function storeStream(
  context: StoreContext,
  write: Write,
  stream: { readonly source: ReadableStream<Uint8Array>; readonly content: StagedContent },
): Promise<FileStat> {
  const { source, content } = stream
  const buffer = new PartBuffer(bufferBytes(context))
  let size = 0
  let binary = 0
  for await (const piece of source) {
    size += piece.length
    checkGrowth(context, write.path, size)
    if (holdsZero(piece)) binary = flags.binary
    for (let taken = 0; taken < piece.length;) {
      if (buffer.isFull) await content.add(buffer.take())
      taken += buffer.add(piece.subarray(taken))
    }
  }
  const rest = buffer.take()
  if (!content.isBegun && !isSpilled(context, size)) {
    return storeNow(context, write, { bytes: rest, flags: binary })
  }
  if (rest.length > 0) await content.add(rest)
  return commitStaged(context, write, { content, flags: binary })
}

/** A full buffer with more to come is always a content above the threshold. */
function bufferBytes(context: StoreContext): number {
  if (context.objects === undefined) return Math.min(STEP_BYTES, context.partBytes)
  return Math.max(context.partBytes, context.inlineThresholdBytes)
}
