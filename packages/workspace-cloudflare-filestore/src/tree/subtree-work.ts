import { FileSystemError } from '@helix-agents/core'
import { utf8Length } from '@helix-agents/core/provider'
import type { FileStoreSqlBinding, FileStoreSqlRow } from '../ports.ts'
import { numberOf, textOf } from '../sql/columns.ts'
import type { StoreContext } from '../store-context.ts'
import { type Place, type SubtreeRange, subtreeOf } from './place.ts'

/**
 * Most that one transaction changes: a transaction cannot give way to other work. An entry costs 2 to
 * 3 microseconds and each byte of its path some nanoseconds, so that this is below 50 ms.
 */
const MAX_ENTRIES = 10_000
/** A snapshot binds no new paths: an entry costs 2 microseconds. */
export const MAX_SNAPSHOT_ENTRIES = 16_000
const MAX_PATH_BYTES = 2_000_000
/** Content that one transaction removes; what is in the bucket counts as well. */
const MAX_CONTENT_BYTES = 64 * 1024 * 1024

/** Entries measured by one statement: with paths of 4,096 bytes, 4 MB. */
const PAGE = 1000

const PAGE_OF = `SELECT directory, name, size FROM helix_fs_nodes
  WHERE namespace = ?1 AND (directory, name) > (?2, ?3) AND directory < ?4
  ORDER BY directory, name`

const MEASURE = `SELECT count(*) AS entries, coalesce(sum(size), 0) AS bytes,
    coalesce(sum(length(CAST(directory AS BLOB)) + length(CAST(name AS BLOB))), 0) AS path_bytes
  FROM (${PAGE_OF} LIMIT ${PAGE})`

const PAGE_END = `${PAGE_OF} LIMIT 1 OFFSET ${PAGE - 1}`

interface SubtreeWork {
  readonly entries: number
  readonly bytes: number
  readonly pathBytes: number
}

/** Counts no further than the limits of entries and paths. */
function workOf(
  { database, namespace }: StoreContext,
  range: SubtreeRange,
  maxEntries = MAX_ENTRIES,
): SubtreeWork {
  const work = { entries: 0, bytes: 0, pathBytes: 0 }
  let after: Place | undefined = { directory: range.start, name: '' }
  while (after !== undefined && work.entries <= maxEntries && work.pathBytes <= MAX_PATH_BYTES) {
    const page: readonly FileStoreSqlBinding[] = [
      namespace.id,
      after.directory,
      after.name,
      range.end,
    ]
    const measured: FileStoreSqlRow = database.get(MEASURE, ...page) ?? {}
    work.entries += numberOf(measured, 'entries')
    work.bytes += numberOf(measured, 'bytes')
    work.pathBytes += numberOf(measured, 'path_bytes')
    const isFull = measured.entries === PAGE
    const end: FileStoreSqlRow | undefined = isFull ? database.get(PAGE_END, ...page) : undefined
    after = end && { directory: textOf(end, 'directory'), name: textOf(end, 'name') }
  }
  return work
}

/** Whether everything below a directory can be removed in one transaction. */
export function isRemovedAtOnce(context: StoreContext, range: SubtreeRange): boolean {
  const { entries, bytes, pathBytes } = workOf(context, range)
  return entries <= MAX_ENTRIES && pathBytes <= MAX_PATH_BYTES && bytes <= MAX_CONTENT_BYTES
}

/** Whether all files can be copied to the same paths of another namespace in one transaction. */
export function isForkedAtOnce(context: StoreContext): boolean {
  const { entries, pathBytes } = workOf(context, subtreeOf('/'), MAX_SNAPSHOT_ENTRIES)
  return entries <= MAX_SNAPSHOT_ENTRIES && pathBytes <= MAX_PATH_BYTES
}

/**
 * Rejects a copy or a move that one transaction cannot do in time. The paths are normalised.
 * @throws {FileSystemError} `too-large`.
 */
export function checkTransferredAtOnce(context: StoreContext, from: string, to: string): void {
  const { entries, pathBytes } = workOf(context, subtreeOf(from))
  const growth = Math.max(0, utf8Length(to) - utf8Length(from))
  if (entries <= MAX_ENTRIES && pathBytes + entries * growth <= MAX_PATH_BYTES) return
  const limits = `${MAX_ENTRIES} entries, whose paths have ${MAX_PATH_BYTES} bytes together`
  throw new FileSystemError('too-large', from, {
    detail: `more lies below it than is copied or moved at once: at most ${limits}`,
    hint: 'Copy or move what lies in it one by one, and keep the paths short.',
  })
}
