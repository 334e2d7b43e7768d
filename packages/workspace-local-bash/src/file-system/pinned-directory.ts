import { closeSync, openSync, readlinkSync } from 'node:fs'
import { ANCHOR_NO_LINK, canPin } from './open-flags.ts'

/**
 * A directory held open. What happens to its path afterwards changes nothing: names are looked
 * up in this very directory, so no link put in its place can redirect them.
 *
 * Where a descriptor cannot serve as a directory (macOS), names are looked up by path.
 */
export class PinnedDirectory {
  readonly #fd: number
  /** The path to hand to the system for this directory. */
  readonly self: string

  private constructor(fd: number, path: string) {
    this.#fd = fd
    this.self = canPin ? `/proc/self/fd/${fd}` : path
  }

  /** @throws the system's error. */
  static open(path: string, flags: number): PinnedDirectory {
    return new PinnedDirectory(openSync(path, flags), path)
  }

  /** The path to hand to the system for a name in this directory. */
  at(name: string): string {
    return `${this.self}/${name}`
  }

  /** Where it is now, on the host. */
  location(): string {
    return canPin ? readlinkSync(this.self) : this.self
  }

  /** A child that is a directory; a link is refused. @throws the system's error. */
  child(name: string): PinnedDirectory {
    return PinnedDirectory.open(this.at(name), ANCHOR_NO_LINK)
  }

  close(): void {
    closeSync(this.#fd)
  }
}
