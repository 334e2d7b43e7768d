import {
  createTimeSlice,
  type FileSystem,
  type SnapshotManifest,
  type SnapshotStore,
  SNAPSHOT_BLOCK_BYTES,
} from '@helix-agents/core/provider'

/** Where a block of a workspace is. */
interface BlockPlace {
  readonly path: string
  readonly offset: number
}

/** Where the clock stands still, so many blocks are read in a turn as take about 10 ms. */
const CHECKS_A_BLOCK = 64
const UNUSED = 'only blocks are read'

/**
 * The blocks of a workspace that is not copied anywhere: they are read from its files when they are
 * asked for. For the time in which nothing changes the files.
 */
export class FileBlocks implements SnapshotStore {
  readonly #files: FileSystem
  readonly #places = new Map<string, BlockPlace>()

  constructor(files: FileSystem) {
    this.#files = files
  }

  async putBlocks(): Promise<void> {}

  async findBlocks(_scope: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(hashes)
  }

  async getBlocks(
    _scope: string,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>()
    const slice = createTimeSlice()
    for (const hash of hashes) {
      const place = this.#places.get(hash)
      if (place !== undefined) found.set(hash, await this.#read(place))
      if (slice.dueAfter(CHECKS_A_BLOCK)) await slice.pause()
    }
    return found
  }

  async putManifest(_scope: string, { entries }: SnapshotManifest): Promise<void> {
    for (const entry of entries) {
      if (entry.type !== 'file') continue
      for (const [index, hash] of entry.blocks.entries()) {
        this.#places.set(hash, { path: entry.path, offset: index * SNAPSHOT_BLOCK_BYTES })
      }
    }
  }

  getManifest(): Promise<never> {
    return Promise.reject(new TypeError(UNUSED))
  }

  listManifests(): Promise<never> {
    return Promise.reject(new TypeError(UNUSED))
  }

  deleteManifest(): Promise<never> {
    return Promise.reject(new TypeError(UNUSED))
  }

  listScopes(): Promise<never> {
    return Promise.reject(new TypeError(UNUSED))
  }

  sweep(): Promise<never> {
    return Promise.reject(new TypeError(UNUSED))
  }

  async #read({ path, offset }: BlockPlace): Promise<Uint8Array> {
    const stream = await this.#files.readStream(path, { offset, length: SNAPSHOT_BLOCK_BYTES })
    return new Uint8Array(await new Response(stream).arrayBuffer())
  }
}
