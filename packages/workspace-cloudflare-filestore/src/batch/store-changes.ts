import { FileSystemError } from '@helix-agents/core'
import type { RejectedChange } from '@helix-agents/core/provider'
import { toNewData } from '../content/new-data.ts'
import type { StoreContext } from '../store-context.ts'
import { mkdir } from '../tree/make-directory.ts'
import { appendNow } from '../writing/append-file.ts'
import type { ChangedFile } from '../writing/change-file.ts'
import { spillEnd } from '../writing/spill-end.ts'
import { isSpilled, storeNow } from '../writing/write-file.ts'
import { contentOf, type PendingEntry } from './pending-changes.ts'

type Change = readonly [path: string, entry: PendingEntry]

/**
 * Stores changes in one transaction. When one of them is not possible any more, each is stored by
 * itself, and those that cannot be are returned.
 */
export async function storeChanges(
  context: StoreContext,
  changes: readonly Change[],
): Promise<readonly RejectedChange[]> {
  const appended: [path: string, file: ChangedFile][] = []
  const store = ([path, entry]: Change): void => {
    const file = storeChange(context, path, entry)
    if (file !== undefined) appended.push([path, file])
  }
  const rejected = storeAll(context, changes, store)
  for (const [path, file] of appended) {
    if (isSpilled(context, file.content.size)) await spillEnd(context, path, file)
  }
  return rejected
}

function storeAll(
  { database }: StoreContext,
  changes: readonly Change[],
  store: (change: Change) => void,
): RejectedChange[] {
  try {
    if (changes.length > 1) database.transaction(() => changes.forEach(store))
    else changes.forEach(store)
    return []
  } catch (error) {
    if (!FileSystemError.isInstance(error)) throw error
    return changes.flatMap((change) => rejectionOf(change, store))
  }
}

function rejectionOf(change: Change, store: (change: Change) => void): RejectedChange[] {
  try {
    store(change)
    return []
  } catch (error) {
    if (!FileSystemError.isInstance(error)) throw error
    return [{ path: change[0], error }]
  }
}

/** What was appended to may have to go to the bucket. */
function storeChange(
  context: StoreContext,
  path: string,
  entry: PendingEntry,
): ChangedFile | undefined {
  if (entry.type === 'directory') {
    mkdir(context, path, true)
    return undefined
  }
  const data = toNewData(contentOf(entry))
  if (entry.storedBytes !== undefined) return appendNow(context, path, data)
  storeNow(context, { path, options: undefined }, data)
  return undefined
}
