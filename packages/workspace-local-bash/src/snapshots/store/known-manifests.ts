import type { SnapshotManifest } from '@helix-agents/core/provider'

/** Entries of all of them together; those of one workspace share most. */
const MAX_ENTRIES = 100_000
/** Files of which only the hash is remembered. */
const MAX_SOUND = 10_000

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
  readonly #sound = new Map<string, string>()
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
    this.#forget(path)
    this.#byPath.set(path, known)
    this.#entries += known.manifest.entries.length
    this.addSound(path, known.fileHash)
    for (const oldest of this.#byPath.keys()) {
      if (this.#entries <= MAX_ENTRIES || oldest === path) return
      this.#forget(oldest)
    }
  }

  /** Whether a file with this hash was parsed or written here. */
  isSound(path: string, fileHash: string): boolean {
    return this.#sound.get(path) === fileHash
  }

  addSound(path: string, fileHash: string): void {
    if (this.#sound.size >= MAX_SOUND) this.#sound.clear()
    this.#sound.set(path, fileHash)
  }

  delete(path: string): void {
    this.#forget(path)
    this.#sound.delete(path)
  }

  #forget(path: string): void {
    this.#entries -= this.#byPath.get(path)?.manifest.entries.length ?? 0
    this.#byPath.delete(path)
  }
}
