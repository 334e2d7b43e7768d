import { snapshotLimits, type SnapshotManifest } from '@helix-agents/core/provider'
import { SnapshotArchiveError } from '../archive-error.ts'
import type { SnapshotSource } from '../read-blocks.ts'
import { SnapshotBuilder } from '../snapshot-builder.ts'
import type { ImportOptions } from '../tar/import-tar.ts'
import { ByteReader } from './byte-reader.ts'
import { GitProcess } from './git-process.ts'

/** A commit of a repository on this machine. */
export interface GitCommit {
  /** Directory of the repository, bare or not. */
  readonly repository: string
  /** A commit, a tag or a branch. Default: `HEAD`. */
  readonly commit?: string
}

/** An imported commit. */
export interface ImportedCommit {
  readonly manifest: SnapshotManifest
  /** Full id of the commit. */
  readonly commit: string
  /** Paths of submodules: their files are in other repositories. */
  readonly submodules: readonly string[]
}

interface Import {
  readonly repository: string
  readonly builder: SnapshotBuilder
  readonly blobs: ByteReader
  readonly ask: (id: string) => void
  readonly submodules: string[]
}

const NUL = 0
const LINE_FEED = 10
const MAX_LINK_BYTES = 4096
const LINE = /^(?<mode>\d{6}) \w+ (?<id>[0-9a-f]+) +(?<size>-|\d+)\t(?<path>.*)$/s

/**
 * Stores the files of a commit as a snapshot, with the program `git`: no hook, filter, attribute
 * or fetch of the repository runs. Submodules are named and left out.
 *
 * @throws {SnapshotArchiveError} `repository-failed` without `git`, repository or commit;
 * `path-escape`, `link-escape`, `too-large`, `invalid-archive`
 * @throws {SnapshotStoreError} `storage-full`, `unavailable`
 */
export async function importGit(
  { repository, commit: name = 'HEAD' }: GitCommit,
  target: SnapshotSource,
  { identity, limits = snapshotLimits, signal }: ImportOptions,
): Promise<ImportedCommit> {
  const commit = await resolveCommit(repository, name, signal)
  const builder = new SnapshotBuilder(target, limits)
  const listing = new GitProcess(
    repository,
    ['ls-tree', '-r', '-t', '-z', '--long', '--full-tree', commit],
    signal,
  )
  const contents = new GitProcess(repository, ['cat-file', '--batch'], signal)
  const submodules: string[] = []
  const work: Import = {
    repository,
    builder,
    submodules,
    blobs: new ByteReader(contents.stdout),
    ask: (id) => contents.stdin.write(`${id}\n`),
  }
  try {
    await importTree(new ByteReader(listing.stdout), work)
    await listing.end()
    await contents.end()
  } finally {
    listing.kill()
    contents.kill()
  }
  signal?.throwIfAborted()
  return { manifest: await builder.finish(identity, { hasModes: true }), commit, submodules }
}

async function resolveCommit(
  repository: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
  const resolving = new GitProcess(repository, args, signal)
  const id = await new ByteReader(resolving.stdout).readTo(LINE_FEED)
  await resolving.end()
  return Buffer.from(id ?? []).toString()
}

async function importTree(lines: ByteReader, work: Import): Promise<void> {
  for (;;) {
    const line = await lines.readTo(NUL)
    if (line === undefined) return
    const { mode, id, size, path } = LINE.exec(new TextDecoder().decode(line))?.groups ?? {}
    if (mode === undefined || id === undefined || path === undefined) {
      throw new SnapshotArchiveError('repository-failed', 'git answered with an unknown line')
    }
    await importEntry({ mode, id, path, size: Number(size) }, work)
  }
}

async function importEntry(
  { mode, id, path, size }: { mode: string; id: string; path: string; size: number },
  work: Import,
): Promise<void> {
  const { builder, submodules } = work
  switch (mode) {
    case '040000':
      return builder.addDirectory(path, 0o755)
    case '120000':
      return builder.addLink(path, await readLink(id, size, work))
    case '160000':
      submodules.push(path)
      return
    default:
      // Executable or not is all that Git knows.
      return builder.addFile(path, {
        mode: mode === '100755' ? 0o755 : 0o644,
        content: readBlob(id, work),
      })
  }
}

async function readLink(id: string, size: number, work: Import): Promise<string> {
  if (size > MAX_LINK_BYTES) {
    throw new SnapshotArchiveError('invalid-archive', `a link has a target of ${size} bytes`)
  }
  const parts: Uint8Array[] = []
  for await (const part of readBlob(id, work)) parts.push(part)
  return Buffer.concat(parts).toString()
}

async function* readBlob(id: string, { ask, blobs }: Import): AsyncGenerator<Uint8Array> {
  ask(id)
  const answer = Buffer.from((await blobs.readTo(LINE_FEED)) ?? []).toString()
  const size = /^[0-9a-f]+ blob (?<size>\d+)$/.exec(answer)?.groups?.size
  if (size === undefined) {
    throw new SnapshotArchiveError('repository-failed', 'the repository lacks an object')
  }
  yield* blobs.read(Number(size))
  for await (const _ of blobs.read(1)) continue
}
