import type { SnapshotManifest } from '@helix-agents/core/provider'
import type { FilePrint } from './file-print.ts'

/** Entries of all of them together; those of one workspace share most. */
const MAX_ENTRIES = 100_000
/** Parts of all files of which only the print is remembered. */
const MAX_PARTS = 200_000

/** A manifest, and what identifies the file that holds it. */
export interface KnownManifest {
  readonly manifest: SnapshotManifest
  readonly print: FilePrint
}

/**
 * The manifests that were stored or read last: one that is asked for again is compared with its file,
 * which takes far less time than parsing it.
 */
export class KnownManifests {
  readonly #byPath = new Map<string, KnownManifest>()
  readonly #sound = new Map<string, FilePrint>()
  #entries = 0
  #parts = 0

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
    this.addSound(path, known.print)
    for (const oldest of this.#byPath.keys()) {
      if (this.#entries <= MAX_ENTRIES || oldest === path) return
      this.#forget(oldest)
    }
  }

  /** The print that a file had when it was parsed or written here. */
  soundPrint(path: string): FilePrint | undefined {
    return this.#sound.get(path)
  }

  addSound(path: string, print: FilePrint): void {
    this.#forgetSound(path)
    if (this.#parts + print.length > MAX_PARTS) {
      this.#sound.clear()
      this.#parts = 0
    }
    this.#sound.set(path, print)
    this.#parts += print.length
  }

  delete(path: string): void {
    this.#forget(path)
    this.#forgetSound(path)
  }

  #forgetSound(path: string): void {
    this.#parts -= this.#sound.get(path)?.length ?? 0
    this.#sound.delete(path)
  }

  #forget(path: string): void {
    this.#entries -= this.#byPath.get(path)?.manifest.entries.length ?? 0
    this.#byPath.delete(path)
  }
}
