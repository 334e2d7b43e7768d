import {
  createTimeSlice,
  type SnapshotEntry,
  type SnapshotFile,
  type SnapshotManifest,
} from '@helix-agents/core/provider'
import { createTarPacker, type TarHeader, type TarPackController } from 'modern-tar'
import { assertBlocks, type FilePart, readBlocks, type SnapshotSource } from '../read-blocks.ts'
import { NO_MODES_RECORD } from './no-modes.ts'

const DEFAULT_MODES = { file: 0o644, directory: 0o755, symlink: 0o777 } as const
/** Names of more bytes are split or cut in the plain header. */
const MAX_PLAIN_NAME = 100
/** Where the clock stands still, so many entries are packed in a turn as take about 10 ms. */
const CHECKS_AN_ENTRY = 64

/**
 * A snapshot as a tar archive (POSIX, `pax`), in constant memory: all blocks are found before the
 * first byte, and a reader that is slow or goes away stops the reading. Times are that of the
 * snapshot. Where the provider has no modes, files are 644 and directories 755, and a comment says
 * so to `importTar`.
 *
 * @throws {SnapshotStoreError} `missing-blocks`, naming the files; the stream fails with `corrupt`
 * when a stored block is damaged.
 */
export async function exportTar(
  source: SnapshotSource,
  manifest: SnapshotManifest,
): Promise<ReadableStream<Uint8Array>> {
  await assertBlocks(source, manifest)
  const { readable, controller } = createTarPacker()
  pack(source, manifest, controller).catch((error: unknown) => controller.error(error))
  return readable
}

async function pack(
  source: SnapshotSource,
  { header, entries }: SnapshotManifest,
  controller: TarPackController,
): Promise<void> {
  const mtime = new Date(header.createdAt)
  const isWithoutModes = entries.every(
    (entry) => entry.type === 'symlink' || entry.mode === undefined,
  )
  if (isWithoutModes) await addComment(controller, mtime)
  const parts = readBlocks(source, entries.filter(isFile))
  const slice = createTimeSlice()
  for (const entry of entries) {
    const writer = controller.add(toHeader(entry, mtime)).getWriter()
    if (isFile(entry) && entry.size > 0) await writeFile(parts, writer)
    await writer.close()
    if (slice.dueAfter(CHECKS_AN_ENTRY)) await slice.pause()
  }
  controller.finalize()
}

/** The parts of the next file. */
async function writeFile(
  parts: AsyncIterator<FilePart>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<void> {
  for (let isLast = false; !isLast;) {
    const { done, value } = await parts.next()
    if (done === true) return
    await writer.write(value.bytes)
    isLast = value.isLast
  }
}

async function addComment(controller: TarPackController, mtime: Date): Promise<void> {
  const body = new TextEncoder().encode(NO_MODES_RECORD)
  const name = 'pax_global_header'
  const added = controller.add({ type: 'pax-global-header', name, size: body.length, mtime })
  const writer = added.getWriter()
  await writer.write(body)
  await writer.close()
}

function toHeader(entry: SnapshotEntry, mtime: Date): TarHeader {
  const path = entry.path.slice(1)
  const common = { mtime, uid: 0, gid: 0, uname: '', gname: '' }
  if (entry.type === 'symlink') {
    const { target } = entry
    const pax = { ...paxOf('path', path), ...paxOf('linkpath', target) }
    const mode = DEFAULT_MODES.symlink
    return { ...common, type: 'symlink', name: path, linkname: target, size: 0, mode, pax }
  }
  const name = entry.type === 'directory' ? `${path}/` : path
  const mode = entry.mode ?? DEFAULT_MODES[entry.type]
  const size = entry.type === 'file' ? entry.size : 0
  return { ...common, type: entry.type, name, size, mode, pax: paxOf('path', name) }
}

/** Every name that is not plain ASCII, or is long, is written whole in an extended header. */
function paxOf(key: 'path' | 'linkpath', value: string): Record<string, string> {
  const isPlain = value.length <= MAX_PLAIN_NAME && /^[\x20-\x7e]*$/.test(value)
  return isPlain ? {} : { [key]: value }
}

function isFile(entry: SnapshotEntry): entry is SnapshotFile {
  return entry.type === 'file'
}
