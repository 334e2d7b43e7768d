import { SnapshotStoreError } from '../../src/errors/snapshot-store-error.ts'
import type { SnapshotHeader, SnapshotManifest } from '../../src/snapshot-store/manifest.ts'
import type {
  SnapshotBlock,
  SnapshotPage,
  SnapshotPageQuery,
  SnapshotStore,
  SweepResult,
} from '../../src/snapshot-store/snapshot-store.ts'

/** Blocks and manifests of one scope in maps; records what is asked for. */
export class MapStore implements SnapshotStore {
  readonly blocks = new Map<string, Uint8Array>()
  readonly manifests = new Map<string, SnapshotManifest>()
  /** The hashes of each call of `getBlocks`. */
  readonly reads: (readonly string[])[] = []
  /** Headers of a page. */
  pageLength = 100

  async putBlocks(_scope: string, blocks: readonly SnapshotBlock[]): Promise<void> {
    for (const { hash, bytes } of blocks) this.blocks.set(hash, bytes)
  }

  async findBlocks(_scope: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(hashes.filter((hash) => this.blocks.has(hash)))
  }

  async getBlocks(
    _scope: string,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    this.reads.push(hashes)
    const found = hashes.map((hash) => [hash, this.blocks.get(hash)] as const)
    return new Map(found.filter((pair): pair is [string, Uint8Array] => pair[1] !== undefined))
  }

  async putManifest(_scope: string, manifest: SnapshotManifest): Promise<void> {
    this.manifests.set(manifest.header.snapshotId, manifest)
  }

  async getManifest(_scope: string, snapshotId: string): Promise<SnapshotManifest> {
    const manifest = this.manifests.get(snapshotId)
    if (manifest === undefined) throw new SnapshotStoreError('not-found', 'there is none')
    return manifest
  }

  async listManifests(
    _scope: string,
    { after = '0' }: SnapshotPageQuery = {},
  ): Promise<SnapshotPage<SnapshotHeader>> {
    const start = Number(after)
    const headers = [...this.manifests.values()].map(({ header }) => header)
    const end = start + this.pageLength
    const items = headers.slice(start, end)
    return end < headers.length ? { items, next: String(end) } : { items }
  }

  async deleteManifest(_scope: string, snapshotId: string): Promise<boolean> {
    return this.manifests.delete(snapshotId)
  }

  async listScopes(): Promise<SnapshotPage<string>> {
    return { items: ['s'] }
  }

  async sweep(): Promise<SweepResult> {
    return { deletedBlocks: 0, deletedBytes: 0, keptBlocks: this.blocks.size }
  }
}
