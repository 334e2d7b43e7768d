import { HelixError } from '@helix-agents/core'
import {
  createTimeSlice,
  type SnapshotLimits,
  snapshotLimits,
  type SnapshotManifest,
} from '@helix-agents/core/provider'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { SnapshotArchiveError, showName } from '../archive-error.ts'
import type { SnapshotSource } from '../read-blocks.ts'
import { SnapshotBuilder, type SnapshotIdentity } from '../snapshot-builder.ts'
import { NO_MODES_COMMENT } from './no-modes.ts'
import { pump } from './pump.ts'
import { createTarGuard } from './tar-guard.ts'

/** Where the clock stands still, so many entries are stored in a turn as take about 10 ms. */
const CHECKS_AN_ENTRY = 64

/** What an imported archive becomes. */
export interface ImportOptions {
  readonly identity: SnapshotIdentity
  /** Default: 200,000 entries, 16 GiB. */
  readonly limits?: SnapshotLimits
  readonly signal?: AbortSignal
}

/**
 * Stores a tar archive (ustar, pax or GNU, not compressed) as a snapshot, in constant memory.
 * The first entry that no snapshot can hold rejects the archive; there is no partial import.
 *
 * @throws {SnapshotArchiveError} `invalid-archive`, `path-escape`, `link-escape`,
 * `duplicate-path`, `unsupported-entry`, `too-large`
 * @throws {SnapshotStoreError} `storage-full`, `unavailable`
 */
export async function importTar(
  archive: ReadableStream<Uint8Array>,
  target: SnapshotSource,
  { identity, limits = snapshotLimits, signal }: ImportOptions,
): Promise<SnapshotManifest> {
  const builder = new SnapshotBuilder(target, limits)
  const aborter = new AbortController()
  const aborted = signal === undefined ? aborter.signal : AbortSignal.any([signal, aborter.signal])
  const entries = entriesOf(archive, limits, aborted)
  const slice = createTimeSlice()
  let hasModes = true
  try {
    for await (const entry of entries) {
      hasModes &&= entry.header.pax?.comment !== NO_MODES_COMMENT
      await addEntry(entry, builder)
      if (slice.dueAfter(CHECKS_AN_ENTRY)) await slice.pause()
    }
  } catch (error) {
    aborter.abort(error)
    throw toArchiveError(error, signal)
  }
  signal?.throwIfAborted()
  return builder.finish(identity, { hasModes })
}

function entriesOf(
  archive: ReadableStream<Uint8Array>,
  limits: SnapshotLimits,
  signal: AbortSignal,
): ReadableStream<ParsedTarEntry> {
  const guard = createTarGuard(limits)
  const decoder = createTarDecoder({ strict: true })
  // What fails is read from the next stream.
  pump(archive, guard.writable, signal).catch(() => undefined)
  pump(guard.readable, decoder.writable, signal).catch(() => undefined)
  return decoder.readable
}

async function addEntry({ header, body }: ParsedTarEntry, builder: SnapshotBuilder): Promise<void> {
  const { name, type, mode, linkname = '', pax = {} } = header
  if (pax.size !== undefined) throw unsupported(name, 'states its size in an extended header')
  if (Object.keys(pax).some((key) => key.startsWith('GNU.sparse.'))) {
    throw unsupported(name, 'is a sparse file')
  }
  switch (type) {
    case 'file':
      return builder.addFile(name, { ...(mode !== undefined && { mode }), content: body })
    case 'directory':
      builder.addDirectory(name, mode)
      break
    case 'symlink':
      builder.addLink(name, linkname)
      break
    case 'link':
      throw unsupported(name, 'is a hard link', 'Pack it with tar --hard-dereference.')
    default:
      throw unsupported(name, 'is a device, a pipe or of another kind')
  }
  await body.cancel()
}

function unsupported(name: string, what: string, hint?: string): SnapshotArchiveError {
  return new SnapshotArchiveError(
    'unsupported-entry',
    `the entry ${showName(name)} ${what}: snapshots hold files, directories and symbolic links`,
    hint === undefined ? {} : { hint },
  )
}

/** What the decoder throws is about the archive; errors of the framework say so themselves. */
function toArchiveError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (HelixError.isInstance(error) || signal?.aborted === true) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new SnapshotArchiveError('invalid-archive', `the archive cannot be read: ${reason}`, {
    cause: error,
  })
}
