import { type FileStat, normalizePath } from '@helix-agents/core/provider'
import { keepData, type NewData, toNewData } from '../content/new-data.ts'
import { releaseContent } from '../content/release-content.ts'
import { storeContent } from '../content/store-content.ts'
import type { StoreContext } from '../store-context.ts'
import { flags } from '../tree/node.ts'
import { checkFileSize, checkQuota } from '../tree/quota.ts'
import { toStat } from '../tree/stat.ts'
import { storeFile } from '../tree/store-node.ts'
import { checkWrite, resolveTarget, type Write, type WriteTarget } from '../tree/write-target.ts'
import { changeFile } from './change-file.ts'
import { StagedContent } from './staged-content.ts'
import { writeKnown } from '../known/write-known.ts'

/**
 * Creates or replaces a file. Without a bucket, and up to the inline threshold, there is no await:
 * one transaction of three statements, or one statement where all that decides is known.
 *
 * Above the threshold the awaits are, for each part: its hash, the head of an object that should
 * be there already, the put. Each is between two transactions that leave the file as it was; the
 * last transaction, `commitStaged`, checks everything again and replaces the file.
 */
export function writeFile(
  context: StoreContext,
  write: Write,
  given: Uint8Array | string,
): FileStat | Promise<FileStat> {
  const path = normalizePath(write.path)
  // Before anything is encoded: a text has at least one byte a unit.
  if (given.length > context.limits.maxFileBytes) checkGrowth(context, path, given.length)
  const data = toNewData(given)
  if (!isSpilled(context, data.bytes.length)) return storeNow(context, { ...write, path }, data)
  return storeInParts(context, { ...write, path }, keepData(data))
}

/** Whether a content of this size goes to the bucket. */
export function isSpilled(context: StoreContext, size: number): boolean {
  return context.objects !== undefined && size > context.inlineThresholdBytes
}

/** Rejects what could never be stored, before memory is allocated for it. */
export function checkGrowth(context: StoreContext, path: string, size: number): void {
  const target = resolveTarget(context, path)
  checkWrite(context, target, undefined)
  checkRoom(context, target, size)
}

/** Stores data in the database, at once. The path is normalised. */
export function storeNow(context: StoreContext, write: Write, data: NewData): FileStat {
  const known = writeKnown(context, write, data)
  if (known !== undefined) return known
  const { node } = changeFile(context, write.path, (target) => {
    checkWrite(context, target, write.options)
    checkRoom(context, target, data.bytes.length)
    return storeContent(context, target, data)
  })
  return toStat(context, write.path, node)
}

/** Replaces a file by a content that was built. The path is normalised. */
export function commitStaged(
  context: StoreContext,
  write: Write,
  staged: { readonly content: StagedContent; readonly flags: number },
): FileStat {
  return staged.content.commit(staged.flags, (content) => {
    const target = resolveTarget(context, write.path)
    checkWrite(context, target, write.options)
    checkRoom(context, target, content.size)
    if (target.node?.content !== undefined) releaseContent(context, target.node.content)
    const node = storeFile(context, target, content)
    context.shared.known.observeAllocated(node.version)
    return toStat(context, write.path, node)
  })
}

async function storeInParts(context: StoreContext, write: Write, data: NewData): Promise<FileStat> {
  const target = resolveTarget(context, write.path)
  checkWrite(context, target, write.options)
  checkRoom(context, target, data.bytes.length)
  const content = new StagedContent(context)
  const { partBytes } = context
  try {
    for (let start = 0; start < data.bytes.length; start += partBytes) {
      await content.add(new Uint8Array(data.bytes.subarray(start, start + partBytes)))
    }
    return commitStaged(context, write, { content, flags: data.flags & flags.binary })
  } finally {
    content.discard()
  }
}

function checkRoom(context: StoreContext, target: WriteTarget, size: number): void {
  const before = target.node?.content?.size ?? 0
  checkFileSize(context, target.path, { before, after: size })
  const files = target.node === undefined ? target.missing.length + 1 : 0
  checkQuota(context, target, { bytes: size - before, files })
}
