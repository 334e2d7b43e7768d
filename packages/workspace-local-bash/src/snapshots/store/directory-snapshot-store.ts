import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Clock, SnapshotStoreError, systemClock } from '@helix-agents/core'
import {
  checkSnapshotBlocks,
  createTimeSlice,
  pageOf,
  parseScope,
  type SnapshotBlock,
  type SnapshotHeader,
  type SnapshotManifest,
  type SnapshotPage,
  type SnapshotPageQuery,
  type SnapshotStore,
  sortByCodePoint,
  type SweepOptions,
  type SweepResult,
} from '@helix-agents/core/provider'
import { errnoOf } from '../../file-system/map-error.ts'
import { unguessableName } from '../../file-system/path/unguessable-name.ts'
import { removeHostPath } from '../../file-system/tree/remove-tree.ts'
import { BlockFiles, sha256 } from './block-files.ts'
import { KnownManifests } from './known-manifests.ts'
import { ManifestFiles } from './manifest-files.ts'
import { withProcessLock } from './process-lock.ts'
import { toStoreError } from './store-errors.ts'
import { checkBlocks, sweepScope } from './sweep-scope.ts'

const SCOPE_FILE = 'scope'
/** A scope that is being deleted. */
const LEFTOVER = /^[0-9a-f]{64}-[0-9a-f]{32}$/

/** Options of a {@link DirectorySnapshotStore}. */
export interface DirectorySnapshotStoreOptions {
  /** Made when it is not there; only this user may enter it. */
  readonly directory: string
  /** Time, for tests. Default: the time of the machine. */
  readonly clock?: Clock
}

const itself = (key: string): string => key
const byName = { keyOf: itself, newestFirst: false }
const newestFirst = { keyOf: itself, newestFirst: true }

/** One scope on disk. */
interface Scope {
  readonly path: string
  readonly blocks: BlockFiles
  readonly manifests: ManifestFiles
}

/**
 * Snapshots in a directory of the host, for Node: a folder for each scope, a file for each block and
 * each manifest. Several processes of one host may use it. Every block that is read is compared
 * with its hash. A killed process leaves nothing half-written; after a power failure, blocks that the
 * system had not yet written are reported as `corrupt`.
 */
export class DirectorySnapshotStore implements SnapshotStore {
  readonly #directory: string
  readonly #clock: Clock
  readonly #scopes = new Map<string, Scope>()
  readonly #known = new KnownManifests()

  constructor(options: DirectorySnapshotStoreOptions) {
    this.#directory = resolve(options.directory)
    this.#clock = options.clock ?? systemClock
  }

  async putBlocks(scope: string, blocks: readonly SnapshotBlock[]): Promise<void> {
    return this.#attempt(async () => {
      await checkSnapshotBlocks(blocks, sha256)
      const { blocks: files } = this.#open(scope)
      const slice = createTimeSlice()
      for (const block of blocks) {
        await files.put(block, this.#clock.now())
        if (slice.due) await slice.pause()
      }
    })
  }

  async findBlocks(scope: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#attempt(async () => {
      const found = this.#find(scope)
      const slice = createTimeSlice()
      const there = new Set<string>()
      for (const hash of found === undefined ? [] : hashes) {
        if (found?.blocks.touch(hash, this.#clock.now()) === true) there.add(hash)
        if (slice.due) await slice.pause()
      }
      return there
    })
  }

  async getBlocks(
    scope: string,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    return this.#attempt(async () => {
      const found = this.#find(scope)
      const slice = createTimeSlice()
      const blocks = new Map<string, Uint8Array>()
      for (const hash of found === undefined ? [] : hashes) {
        const read = found?.blocks.get(hash)
        const bytes = read instanceof Promise ? await read : read
        if (bytes !== undefined) blocks.set(hash, bytes)
        if (slice.due) await slice.pause()
      }
      return blocks
    })
  }

  async putManifest(scope: string, manifest: SnapshotManifest): Promise<void> {
    return this.#attempt(async () => {
      const found = this.#open(scope)
      const { snapshotId, parent } = manifest.header
      await withProcessLock(found.path, async () => {
        if (found.manifests.has(snapshotId)) {
          throw new SnapshotStoreError('already-exists', 'a snapshot with this id is stored')
        }
        const last = parent === undefined ? undefined : found.manifests.known(parent)
        // What a manifest names is there for as long as the manifest is.
        await checkBlocks(manifest, found.blocks, last?.entries ?? [])
        await found.manifests.put(manifest)
      })
    })
  }

  async getManifest(scope: string, snapshotId: string): Promise<SnapshotManifest> {
    return this.#attempt(async () => {
      const found = this.#find(scope)
      if (found !== undefined) return found.manifests.get(snapshotId)
      throw new SnapshotStoreError('not-found', 'there is no such snapshot')
    })
  }

  async listManifests(
    scope: string,
    query: SnapshotPageQuery = {},
  ): Promise<SnapshotPage<SnapshotHeader>> {
    return this.#attempt(async () => {
      const found = this.#find(scope)
      const { items: keys, next } = pageOf(found?.manifests.keys() ?? [], newestFirst, query)
      const items = keys.flatMap((key) => found?.manifests.header(key) ?? [])
      return { items, ...(next !== undefined && { next }) }
    })
  }

  async deleteManifest(scope: string, snapshotId: string): Promise<boolean> {
    return this.#attempt(async () => {
      const found = this.#find(scope)
      if (found === undefined) return false
      return withProcessLock(found.path, async () => found.manifests.delete(snapshotId))
    })
  }

  async listScopes(query: SnapshotPageQuery = {}): Promise<SnapshotPage<string>> {
    return this.#attempt(async () => {
      const scopes = namesIn(this.#directory).flatMap((name) => this.#nameOf(name))
      return pageOf(await sortByCodePoint(scopes, itself), byName, query)
    })
  }

  async sweep(scope: string, options: SweepOptions = {}): Promise<SweepResult> {
    return this.#attempt(async () => {
      const found = this.#find(scope)
      if (found === undefined) return { deletedBlocks: 0, deletedBytes: 0, keptBlocks: 0 }
      return withProcessLock(found.path, () => sweepScope(found, this.#clock.now(), options))
    })
  }

  /** All scopes. */
  async *scopes(): AsyncGenerator<string> {
    for (let after: string | undefined, isMore = true; isMore; isMore = after !== undefined) {
      const page = await this.listScopes({ limit: 1000, ...(after !== undefined && { after }) })
      yield* page.items
      after = page.next
    }
  }

  /** Headers of all snapshots of a scope, the newest first. */
  async *manifests(scope: string): AsyncGenerator<SnapshotHeader> {
    for (let after: string | undefined, isMore = true; isMore; isMore = after !== undefined) {
      const query = { limit: 1000, ...(after !== undefined && { after }) }
      const page = await this.listManifests(scope, query)
      yield* page.items
      after = page.next
    }
  }

  /** Whether anything of a scope is on disk. */
  holds(scope: string): boolean {
    return this.#find(scope) !== undefined
  }

  /** Where the blocks of a scope are, for a thread that reads them. */
  blockDirectory(scope: string): string | undefined {
    const found = this.#find(scope)
    return found && join(found.path, 'blocks')
  }

  /** Bytes of all blocks of a scope. */
  async blockBytes(scope: string): Promise<number> {
    return this.#attempt(async () => {
      const blocks = this.#find(scope)?.blocks
      const slice = createTimeSlice()
      let bytes = 0
      for (const hash of blocks?.list() ?? []) {
        bytes += blocks?.stat(hash)?.bytes ?? 0
        if (slice.due) await slice.pause()
      }
      return bytes
    })
  }

  /** When something was stored or deleted in a scope, in whole milliseconds; 0: it is not there. */
  lastChangeMs(scope: string): number {
    return Math.floor(lstatSync(this.#pathOf(scope), { throwIfNoEntry: false })?.mtimeMs ?? 0)
  }

  /** Finishes deletions of scopes that were interrupted, and have been for a time. */
  async deleteLeftovers(graceMs: number): Promise<void> {
    for (const name of namesIn(this.#directory).filter((one) => LEFTOVER.test(one))) {
      const path = join(this.#directory, name)
      const stats = lstatSync(path, { throwIfNoEntry: false })
      if (stats && this.#clock.now() - Math.floor(stats.mtimeMs) >= graceMs)
        await removeHostPath(path)
    }
  }

  /** Deletes all of a scope. */
  async deleteScope(scope: string): Promise<void> {
    return this.#attempt(async () => {
      const found = this.#find(scope)
      if (found === undefined) return
      // From now on it is not found; what a crash leaves of it has the name of no scope.
      const doomed = `${found.path}-${unguessableName()}`
      await withProcessLock(found.path, async () => renameSync(found.path, doomed))
      this.#scopes.delete(scope)
      await removeHostPath(doomed)
    })
  }

  /** The folder of a scope, made when it is not there. */
  #open(scope: string): Scope {
    const found = this.#find(scope)
    if (found !== undefined) return found
    this.#scopes.delete(scope)
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    assertOwn(this.#directory)
    const path = this.#pathOf(scope)
    for (const part of ['blocks', 'manifests']) {
      mkdirSync(join(path, part), { recursive: true, mode: 0o700 })
    }
    writeFileSync(join(path, SCOPE_FILE), scope, { mode: 0o600 })
    return this.#find(scope) ?? this.#unavailable()
  }

  #find(scope: string): Scope | undefined {
    const path = this.#pathOf(scope)
    const stats = lstatSync(join(path, 'blocks'), { throwIfNoEntry: false })
    if (stats === undefined) return undefined
    const found = this.#scopes.get(scope) ?? {
      path,
      blocks: new BlockFiles(join(path, 'blocks')),
      manifests: new ManifestFiles(join(path, 'manifests'), this.#known),
    }
    if (!this.#scopes.has(scope)) assertOwn(this.#directory)
    this.#scopes.set(scope, found)
    return found
  }

  #pathOf(scope: string): string {
    return join(this.#directory, sha256(Buffer.from(parseScope(scope), 'utf8')))
  }

  /** The scope of a folder; none when that is not one of this store. */
  #nameOf(folder: string): readonly string[] {
    try {
      const scope = readFileSync(join(this.#directory, folder, SCOPE_FILE), 'utf8')
      return this.#pathOf(scope) === join(this.#directory, folder) ? [scope] : []
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return []
      throw error
    }
  }

  #unavailable(): never {
    throw new SnapshotStoreError('unavailable', 'the store of snapshots cannot be made')
  }

  async #attempt<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (cause) {
      throw toStoreError(cause)
    }
  }
}

/** A directory that another user made could be read or changed by that user. */
function assertOwn(path: string): void {
  const stats = lstatSync(path)
  const isOwn = stats.isDirectory() && stats.uid === process.getuid?.()
  if (isOwn && (stats.mode & 0o022) === 0) return
  throw new SnapshotStoreError(
    'unavailable',
    'the directory of snapshots is not one of this user',
    {
      hint: 'An operator must give a directory that only the user of this process can write to.',
    },
  )
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}
