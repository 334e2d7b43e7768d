import type { FileAttributes, MetadataEntry } from './script.ts'

/** Paths that are remembered; then the oldest is forgotten. */
const MAX_PATHS = 10_000

/**
 * Permissions and times that commands set, which the files of a workspace do not have. They last as
 * long as the shell does.
 */
export class FileMetadata {
  static readonly fileMode = 0o644
  readonly #entries: Map<string, FileAttributes>

  constructor(entries: Iterable<MetadataEntry> = []) {
    this.#entries = new Map(entries)
  }

  modeOf(path: string, isDirectory: boolean): number {
    return this.#entries.get(path)?.mode ?? (isDirectory ? 0o755 : FileMetadata.fileMode)
  }

  timeOf(path: string, version: string): Date | undefined {
    const time = this.#entries.get(path)?.time
    return time?.version === version ? time.modified : undefined
  }

  setMode(path: string, mode: number): void {
    this.#set(path, { ...this.#entries.get(path), mode })
  }

  setTime(path: string, time: NonNullable<FileAttributes['time']>): void {
    this.#set(path, { ...this.#entries.get(path), time })
  }

  /** Of a path and everything below it. */
  forget(path: string): void {
    for (const known of this.#entries.keys()) {
      if (known === path || known.startsWith(`${path}/`)) this.#entries.delete(known)
    }
  }

  move(from: string, to: string): void {
    this.forget(to)
    for (const [known, entry] of this.entries()) {
      if (known !== from && !known.startsWith(`${from}/`)) continue
      this.#entries.delete(known)
      this.#set(to + known.slice(from.length), entry)
    }
  }

  /** Plain data, to make another one of. */
  entries(): MetadataEntry[] {
    return [...this.#entries]
  }

  #set(path: string, entry: FileAttributes): void {
    this.#entries.delete(path)
    this.#entries.set(path, entry)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MAX_PATHS && oldest !== undefined) this.#entries.delete(oldest)
  }
}
