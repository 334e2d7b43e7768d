import { type FileStat, normalizePath } from '@helix-agents/core/provider'
import { addContent } from '../content/add-blocks.ts'
import { appendContent, ownContent } from '../content/append-content.ts'
import { type NewData, toNewData } from '../content/new-data.ts'
import { newContentId } from '../content/store-content.ts'
import type { StoreContext } from '../store-context.ts'
import type { Content } from '../tree/node.ts'
import { checkFileSize, checkQuota } from '../tree/quota.ts'
import { toStat } from '../tree/stat.ts'
import { checkWrite, type WriteTarget } from '../tree/write-target.ts'
import { type ChangedFile, changeFile } from './change-file.ts'
import { spillEnd } from './spill-end.ts'
import { isSpilled } from './write-file.ts'

/**
 * Adds to the end of a file. One transaction without an await, also for a file in the bucket:
 * appends at once lose nothing. Only then, when enough has gathered, its end moves to the bucket;
 * should that fail, the append has happened all the same, and a later one tries again.
 */
export async function appendFile(
  context: StoreContext,
  path: string,
  given: Uint8Array | string,
): Promise<FileStat> {
  const normal = normalizePath(path)
  const changed = appendNow(context, normal, toNewData(given))
  if (isSpilled(context, changed.content.size)) await spillEnd(context, normal, changed)
  return toStat(context, normal, changed.node)
}

/** Adds to the end of a file in the database, at once. The path is normalised. */
export function appendNow(context: StoreContext, path: string, data: NewData): ChangedFile {
  return changeFile(context, path, (target) => {
    checkWrite(context, target, undefined)
    checkRoom(context, target, data.bytes.length)
    return extended(context, target, data)
  })
}

function extended(context: StoreContext, target: WriteTarget, data: NewData): Content {
  const before = target.node?.content
  if (before === undefined) return addContent(context, newContentId(target), data)
  return appendContent(context, ownContent(context, before, newContentId(target)), data)
}

function checkRoom(context: StoreContext, target: WriteTarget, added: number): void {
  const before = target.node?.content?.size ?? 0
  checkFileSize(context, target.path, { before, after: before + added })
  const files = target.node === undefined ? target.missing.length + 1 : 0
  checkQuota(context, target, { bytes: added, files })
}
