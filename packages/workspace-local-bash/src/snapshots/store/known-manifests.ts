import type { SnapshotManifest } from '@helix-agents/core/provider'

/** Entries of all of them together; those of one workspace share most. */
const MAX_ENTRIES = 100_000

/** A manifest, and the SHA-256 of the file that holds it. */
export interface KnownManifest {
  readonly manifest: SnapshotManifest
  readonly fileHash: string
}

/**
 * The manifests that were stored or read last: one that is asked for again is compared with its file,
 * which takes far less time than parsing it.
 */
export class KnownManifests {
  readonly #byPath = new Map<string, KnownManifest>()
  #entries = 0

  get(path: string): KnownManifest | undefined {
    const known = this.#byPath.get(path)
    if (known !== undefined) {
      this.#byPath.delete(path)
      this.#byPath.set(path, known)
    }
    return known
  }

  /** The newest stays whatever its size. */
  add(path: string, known: KnownManifest): void {
    this.delete(path)
    this.#byPath.set(path, known)
    this.#entries += known.manifest.entries.length
    for (const oldest of this.#byPath.keys()) {
      if (this.#entries <= MAX_ENTRIES || oldest === path) return
      this.delete(oldest)
    }
  }

  delete(path: string): void {
    this.#entries -= this.#byPath.get(path)?.manifest.entries.length ?? 0
    this.#byPath.delete(path)
  }
}
