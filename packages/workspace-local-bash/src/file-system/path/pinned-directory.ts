import { chmodSync, closeSync, openSync, readlinkSync, statSync } from 'node:fs'
import { ANCHOR_NO_LINK, canPin } from './open-flags.ts'

const OWNER_ALL = 0o700
const PERMISSIONS = 0o7777

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

  /** A child that is a directory; a link is rejected. @throws the system's error. */
  child(name: string): PinnedDirectory {
    return PinnedDirectory.open(this.at(name), ANCHOR_NO_LINK)
  }

  /**
   * Gives its owner every permission on it. Its descriptor is no link, so that the mode of no
   * other directory can change.
   * @throws the system's error.
   */
  makeAccessible(): void {
    const { mode } = statSync(this.self)
    if ((mode & OWNER_ALL) !== OWNER_ALL) chmodSync(this.self, (mode & PERMISSIONS) | OWNER_ALL)
  }

  close(): void {
    closeSync(this.#fd)
  }
}
