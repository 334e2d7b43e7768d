import { FileSystemError } from '@helix-agents/core'
import {
  BlockWriter,
  checkManifest,
  digestEntries,
  isInnerTarget,
  normalizePath,
  parentPath,
  SNAPSHOT_FORMAT_VERSION,
  type SnapshotEntry,
  type SnapshotHeader,
  type SnapshotLimits,
  type SnapshotManifest,
  sortByCodePoint,
} from '@helix-agents/core/provider'
import { SnapshotArchiveError, type SnapshotArchiveErrorCode, showName } from './archive-error.ts'
import type { SnapshotSource } from './read-blocks.ts'

/** Whose snapshot an imported one becomes. */
export type SnapshotIdentity = Pick<
  SnapshotHeader,
  'agentType' | 'createdAt' | 'providerId' | 'sessionId' | 'workspace' | 'workspaceId'
>

/** A file of an archive. */
export interface ArchivedFile {
  readonly mode?: number
  readonly content: AsyncIterable<Uint8Array>
}

const PERMISSIONS = 0o777

/**
 * Builds a snapshot from the entries of an archive, in any order. Blocks are stored as they come;
 * the manifest is stored last, so that what fails on the way leaves no snapshot, only blocks that
 * the next sweep frees.
 */
export class SnapshotBuilder {
  readonly #target: SnapshotSource
  readonly #limits: SnapshotLimits
  readonly #blocks: BlockWriter
  readonly #entries = new Map<string, SnapshotEntry>()
  /** Directories that no entry has named so far. */
  readonly #implied = new Set<string>()
  #bytes = 0

  constructor(target: SnapshotSource, limits: SnapshotLimits) {
    this.#target = target
    this.#limits = limits
    this.#blocks = new BlockWriter(target.store, target.scope)
  }

  /** @throws {SnapshotArchiveError} */
  addDirectory(name: string, mode?: number): void {
    const path = toPath(name)
    if (path === '/') return
    if (this.#implied.delete(path)) this.#entries.delete(path)
    this.#add({ path, type: 'directory', ...toMode(mode) })
  }

  /** @throws {SnapshotArchiveError} `link-escape` and others */
  addLink(name: string, target: string): void {
    const path = toPath(name)
    if (!isInnerTarget(path, target)) {
      throw problem('link-escape', path, `is a link to ${showName(target)}, which may lead out`)
    }
    this.#add({ path, type: 'symlink', target })
  }

  /** @throws {SnapshotArchiveError | SnapshotStoreError} */
  async addFile(name: string, { mode, content }: ArchivedFile): Promise<void> {
    const path = toPath(name)
    // Its place is taken before its content is read.
    this.#add({ path, type: 'file', size: 0, blocks: [], ...toMode(mode) })
    const { size, blocks } = await this.#blocks.write(this.#counted(content))
    this.#entries.set(path, { path, type: 'file', size, blocks, ...toMode(mode) })
  }

  /**
   * Stores the snapshot.
   * @param hasModes False drops the modes of all entries.
   */
  async finish(
    identity: SnapshotIdentity,
    { hasModes }: { readonly hasModes: boolean },
  ): Promise<SnapshotManifest> {
    await this.#blocks.flush()
    const found = [...this.#entries.values()]
    const entries = await sortByCodePoint(
      hasModes ? found : found.map(withoutMode),
      ({ path }) => path,
    )
    const header: SnapshotHeader = {
      ...identity,
      formatVersion: SNAPSHOT_FORMAT_VERSION,
      snapshotId: crypto.randomUUID(),
      entries: entries.length,
      bytes: this.#bytes,
      digest: await digestEntries(entries),
    }
    const manifest = { header, entries }
    await checkManifest(manifest, this.#limits)
    await this.#target.store.putManifest(this.#target.scope, manifest)
    return manifest
  }

  #add(entry: SnapshotEntry): void {
    const { path } = entry
    if (path === '/') throw problem('duplicate-path', path, 'is the root, and no directory')
    if (this.#entries.has(path)) throw problem('duplicate-path', path, 'is there twice')
    this.#addParents(path)
    this.#count()
    this.#entries.set(path, entry)
  }

  #addParents(path: string): void {
    for (let at = parentPath(path); at !== '/'; at = parentPath(at)) {
      const above = this.#entries.get(at)
      if (above?.type === 'directory') return
      if (above?.type === 'symlink') throw problem('link-escape', path, 'lies behind a link')
      if (above !== undefined) throw problem('duplicate-path', path, 'lies below a file')
      this.#count()
      this.#implied.add(at)
      this.#entries.set(at, { path: at, type: 'directory', mode: 0o755 })
    }
  }

  #count(): void {
    const { maxEntries } = this.#limits
    if (this.#entries.size < maxEntries) return
    throw new SnapshotArchiveError('too-large', `it has more than ${maxEntries} entries`)
  }

  async *#counted(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { maxTotalBytes } = this.#limits
    for await (const chunk of content) {
      this.#bytes += chunk.length
      if (this.#bytes > maxTotalBytes) {
        throw new SnapshotArchiveError(
          'too-large',
          `its files have more than ${maxTotalBytes} bytes`,
        )
      }
      yield chunk
    }
  }
}

/** The path in the workspace. @throws {SnapshotArchiveError} */
function toPath(name: string): string {
  if (name.startsWith('/') || name.split('/').includes('..')) {
    throw problem('path-escape', name, 'does not stay below the root')
  }
  if (name.includes('\uFFFD')) throw problem('invalid-archive', name, 'is not UTF-8')
  try {
    return normalizePath(name)
  } catch (error) {
    if (!FileSystemError.isInstance(error)) throw error
    throw new SnapshotArchiveError('invalid-archive', error.message, { cause: error })
  }
}

function toMode(mode: number | undefined): { readonly mode?: number } {
  return mode === undefined ? {} : { mode: mode & PERMISSIONS }
}

function withoutMode(entry: SnapshotEntry): SnapshotEntry {
  if (entry.type === 'symlink') return entry
  const { mode: _, ...rest } = entry
  return rest
}

function problem(code: SnapshotArchiveErrorCode, name: string, what: string): SnapshotArchiveError {
  return new SnapshotArchiveError(code, `the entry ${showName(name)} ${what}`)
}
