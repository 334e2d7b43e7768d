import { SnapshotStoreError } from '@helix-agents/core'
import {
  checkManifest,
  sha256,
  type SnapshotBlock,
  type SnapshotManifest,
  type SnapshotStore,
} from '@helix-agents/core/provider'

/** A snapshot store in a Map, of one scope. */
export class MapStore implements SnapshotStore {
  readonly blocks = new Map<string, Uint8Array>()
  readonly manifests = new Map<string, SnapshotManifest>()
  /** Most bytes that one call took or gave. */
  mostBytes = 0

  async putBlocks(_scope: string, blocks: readonly SnapshotBlock[]): Promise<void> {
    this.#measure(blocks.map(({ bytes }) => bytes))
    for (const { hash, bytes } of blocks) {
      if ((await sha256(new Uint8Array(bytes))) !== hash) {
        throw new SnapshotStoreError('corrupt', 'the bytes do not match their hash')
      }
      this.blocks.set(hash, bytes)
    }
  }

  async findBlocks(_scope: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(hashes.filter((hash) => this.blocks.has(hash)))
  }

  async getBlocks(
    _scope: string,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>()
    for (const hash of hashes) {
      const bytes = this.blocks.get(hash)
      if (bytes !== undefined) found.set(hash, bytes)
    }
    this.#measure([...found.values()])
    return found
  }

  async putManifest(_scope: string, manifest: SnapshotManifest): Promise<void> {
    await checkManifest(manifest)
    this.manifests.set(manifest.header.snapshotId, manifest)
  }

  async getManifest(_scope: string, id: string): Promise<SnapshotManifest> {
    const manifest = this.manifests.get(id)
    if (manifest === undefined) throw new SnapshotStoreError('not-found', 'no such snapshot')
    return manifest
  }

  async listManifests(): Promise<{ readonly items: readonly SnapshotManifest['header'][] }> {
    return { items: [...this.manifests.values()].map(({ header }) => header) }
  }

  async deleteManifest(_scope: string, id: string): Promise<boolean> {
    return this.manifests.delete(id)
  }

  async listScopes(): Promise<{ readonly items: readonly string[] }> {
    return { items: ['scope'] }
  }

  async sweep(): Promise<never> {
    throw new SnapshotStoreError('unavailable', 'this store of a test frees nothing')
  }

  #measure(parts: readonly Uint8Array[]): void {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0)
    this.mostBytes = Math.max(this.mostBytes, bytes)
  }
}
