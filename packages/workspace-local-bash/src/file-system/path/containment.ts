import { type BigIntStats, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs'
import { FileSystemError } from '@helix-agents/core'
import { baseName, normalizePath, parentPath } from '@helix-agents/core/provider'
import { toFileSystemError } from '../map-error.ts'
import { ANCHOR, ANCHOR_NO_LINK, canPin } from './open-flags.ts'
import { PinnedDirectory } from './pinned-directory.ts'
import { type Place, walkPath, type WalkOptions } from './walk-path.ts'

export interface ContainmentOptions {
  /** Canonical path of the workspace root on the host. */
  readonly root: string
  /** The root as the shell sees it: absolute links made there lead into the workspace. */
  readonly shellRoot?: string
  /**
   * Brings a missing or replaced root back.
   * @throws {WorkspaceFailedError} `working-directory-missing` when it cannot.
   */
  restoreRoot(): void
  /** Whether a link on the way is rejected, also one that stays inside. Default: it is followed. */
  readonly rejectsLinks?: boolean
}

/** Ends a race with a process that swaps links. */
const MAX_ATTEMPTS = 40

/** A name in a pinned directory, and what is there; never a link unless asked for. */
export interface Located extends Place {
  readonly stats: BigIntStats | undefined
}

/**
 * Finds paths of the workspace on the host, so that no name on the way and no race leads out:
 * the fast way lets the system resolve the path and checks where that led; the slow way goes
 * name by name, each looked up in the directory held open before it.
 */
export class Containment {
  readonly root: string
  readonly #options: ContainmentOptions
  readonly #prefix: string

  constructor(options: ContainmentOptions) {
    this.root = options.root
    this.#prefix = `${options.root}/`
    this.#options = options
  }

  /** The path on the host, not yet checked. */
  hostPath(path: string): string {
    return path === '/' ? this.root : this.root + path
  }

  /** The same, where links are rejected. */
  withoutLinks(): Containment {
    return new Containment({ ...this.#options, rejectsLinks: true })
  }

  /** Whether an open file lies in the workspace; where links are rejected: at this very path. */
  holds(fd: number, path: string): boolean {
    return this.#accepts(readlinkSync(`/proc/self/fd/${fd}`), this.hostPath(path))
  }

  /**
   * The path of what a path reaches; what is missing keeps its spelling.
   * @throws {FileSystemError} `path-escape`, `invalid-path` when it is too long.
   */
  realPath(path: string, followLast: boolean): string {
    const place: Place =
      this.#parentOf(path, followLast) ?? this.walk(path, { followLast, stopsAtMissing: true })
    try {
      const location = place.directory.location()
      if (!this.#isInside(location)) throw new FileSystemError('path-escape', path)
      const names = [location.slice(this.root.length), place.name, ...(place.rest ?? [])]
      return normalizePath(`/${names.join('/')}`)
    } catch (error) {
      throw toFileSystemError(error, path)
    } finally {
      place.directory.close()
    }
  }

  /** The directory that holds a path; undefined where the walk has to find it. */
  #parentOf(path: string, followLast: boolean): Located | undefined {
    if (path === '/') return undefined
    const directory = this.#tryOpen(this.hostPath(parentPath(path)), ANCHOR)
    if (directory === undefined) return undefined
    const found = withStats({ directory, name: baseName(path) }, path)
    if (!followLast || !found.stats?.isSymbolicLink()) return found
    directory.close()
    return undefined
  }

  /** The root itself, brought back when it is gone. */
  openRoot(): PinnedDirectory {
    const first = this.#tryOpen(this.root, ANCHOR_NO_LINK)
    if (first !== undefined) return first
    this.#options.restoreRoot()
    const second = this.#tryOpen(this.root, ANCHOR_NO_LINK)
    if (second !== undefined) return second
    throw new FileSystemError('path-escape', '/')
  }

  /**
   * A directory of the workspace, links followed.
   * @throws {FileSystemError} `not-found`, `not-directory`, `path-escape`.
   */
  openDirectory(path: string): PinnedDirectory {
    const direct = this.#tryOpen(this.hostPath(path), ANCHOR)
    if (direct !== undefined) return direct
    const place = this.walk(path, { followLast: true })
    try {
      return place.directory.child(place.name)
    } catch (error) {
      throw toFileSystemError(error, path)
    } finally {
      place.directory.close()
    }
  }

  /**
   * Finds a path for an operation on its last name; the caller closes the directory.
   * @throws {FileSystemError} `not-found` when a parent is missing, `not-directory`,
   * `path-escape`.
   */
  locate(path: string, options: WalkOptions): Located {
    const direct = this.#parentOf(path, options.followLast)
    if (direct !== undefined) return direct
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const found = withStats(this.walk(path, options), path)
      // A link can be put there right after the walk found none: walk again.
      if (!found.stats?.isSymbolicLink() || !options.followLast) return found
      found.directory.close()
    }
    throw new FileSystemError('not-found', path, { detail: 'its links never stay the same' })
  }

  /** Goes name by name. */
  walk(path: string, options: WalkOptions): Place {
    try {
      return walkPath(path, {
        ...options,
        rejectsLinks: this.#options.rejectsLinks === true,
        openRoot: () => this.openRoot(),
        mapLink: (target) => this.#mapLink(target),
      })
    } catch (error) {
      throw toFileSystemError(error, path)
    }
  }

  /** Lets the system resolve a path; undefined when it failed or led out. */
  #tryOpen(hostPath: string, flags: number): PinnedDirectory | undefined {
    try {
      if (!canPin) return this.#openByPath(hostPath)
      const directory = PinnedDirectory.open(hostPath, flags)
      if (this.#accepts(directory.location(), hostPath)) return directory
      directory.close()
      return undefined
    } catch {
      return undefined
    }
  }

  #openByPath(hostPath: string): PinnedDirectory | undefined {
    const real = realpathSync.native(hostPath)
    if (!this.#accepts(real, hostPath)) return undefined
    return PinnedDirectory.open(real, ANCHOR_NO_LINK)
  }

  #accepts(location: string, hostPath: string): boolean {
    return this.#options.rejectsLinks === true ? location === hostPath : this.#isInside(location)
  }

  #isInside(location: string): boolean {
    return location === this.root || location.startsWith(this.#prefix)
  }

  /** An absolute link is taken as the shell means it; one that leads out is undefined. */
  #mapLink(target: string): string | undefined {
    for (const root of [this.#options.shellRoot ?? this.root, this.root]) {
      if (target === root) return '/'
      if (target.startsWith(`${root}/`)) return target.slice(root.length)
    }
    return undefined
  }
}

function withStats(place: Place, path: string): Located {
  try {
    const stats = lstatSync(place.directory.at(place.name), {
      bigint: true,
      throwIfNoEntry: false,
    })
    return { ...place, stats }
  } catch (error) {
    place.directory.close()
    throw toFileSystemError(error, path)
  }
}

/** Opens a file of a pinned directory. @throws {FileSystemError} */
export function openAt(place: Place, flags: number, path: string): number {
  try {
    return openSync(place.directory.at(place.name), flags)
  } catch (error) {
    throw toFileSystemError(error, path)
  }
}
