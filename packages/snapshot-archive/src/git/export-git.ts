import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SnapshotManifest } from '@helix-agents/core/provider'
import { SnapshotArchiveError } from '../archive-error.ts'
import { assertBlocks, type SnapshotSource } from '../read-blocks.ts'
import { CommitWriter } from './commit-writer.ts'
import { type GitDifference, heldByGit } from './held-by-git.ts'
import { ObjectWriter } from './object-writer.ts'

/** The commit of one snapshot. */
export interface ExportedCommit {
  readonly snapshotId: string
  /** Id of the commit; also the ref `snapshots/<snapshotId>`. */
  readonly commit: string
  /** What Git does not hold of it, the first 100. */
  readonly differences: readonly GitDifference[]
  /** All of these, counted. */
  readonly differenceCount: number
}

const MOST_DIFFERENCES = 100
const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n'

/**
 * Writes snapshots as a bare Git repository: one commit each on the branch `main`, in the order
 * given. The same snapshots have the same commits. The repository appears at once, when all of it
 * is written; memory holds the entries, never a whole file of more than 1 MiB. Git itself is not
 * needed.
 *
 * @param directory Where the repository is made; its parent exists, and it is missing or empty.
 * @throws {SnapshotArchiveError} `target-exists`
 * @throws {SnapshotStoreError} `not-found`, `missing-blocks`, `corrupt`, `unavailable`
 */
export async function exportGit(
  source: SnapshotSource,
  snapshotIds: readonly string[],
  directory: string,
): Promise<readonly ExportedCommit[]> {
  await assertFree(directory)
  const building = join(dirname(directory), `.helix-export-${randomUUID()}`)
  try {
    const commits = await writeRepository(source, snapshotIds, building)
    await removeEmpty(directory)
    await rename(building, directory)
    return commits
  } catch (error) {
    await rm(building, { recursive: true, force: true })
    throw error
  }
}

async function writeRepository(
  source: SnapshotSource,
  snapshotIds: readonly string[],
  repository: string,
): Promise<readonly ExportedCommit[]> {
  const objects = join(repository, 'objects')
  const heads = join(repository, 'refs', 'heads')
  const snapshots = join(repository, 'refs', 'snapshots')
  await mkdir(repository)
  for (const folder of [objects, heads, snapshots]) await mkdir(folder, { recursive: true })
  await writeFile(join(repository, 'HEAD'), 'ref: refs/heads/main\n')
  await writeFile(join(repository, 'config'), CONFIG)
  const writer = new CommitWriter(source, new ObjectWriter(objects))
  const commits: ExportedCommit[] = []
  for (const snapshotId of snapshotIds) {
    const manifest = await source.store.getManifest(source.scope, snapshotId)
    const commit = await writeCommit(source, manifest, { writer, parent: commits.at(-1)?.commit })
    await writeFile(join(snapshots, snapshotId), `${commit.commit}\n`)
    commits.push(commit)
  }
  const last = commits.at(-1)
  if (last !== undefined) await writeFile(join(heads, 'main'), `${last.commit}\n`)
  return commits
}

async function writeCommit(
  source: SnapshotSource,
  manifest: SnapshotManifest,
  { writer, parent }: { readonly writer: CommitWriter; readonly parent: string | undefined },
): Promise<ExportedCommit> {
  await assertBlocks(source, manifest)
  const { held, differences } = heldByGit(manifest.entries)
  return {
    snapshotId: manifest.header.snapshotId,
    commit: await writer.write(manifest.header, held, parent),
    differences: differences.slice(0, MOST_DIFFERENCES),
    differenceCount: differences.length,
  }
}

async function assertFree(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []
    if (codeOf(error) === 'ENOTDIR') return ['a file']
    throw error
  })
  if (names.length === 0) return
  throw new SnapshotArchiveError('target-exists', 'the directory to export to is not empty')
}

async function removeEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
  })
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
