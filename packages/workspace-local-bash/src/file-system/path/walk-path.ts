import { mkdirSync, readlinkSync } from 'node:fs'
import { FileSystemError } from '@helix-agents/core'
import { MAX_PATH_DEPTH } from '@helix-agents/core/provider'
import { errnoOf, isMissing } from '../map-error.ts'
import type { PinnedDirectory } from './pinned-directory.ts'

/** As many as Linux follows. */
const MAX_LINKS = 40

/** More than any path has names; ends a race with a process that removes what is made. */
const MAX_CREATED = 2 * MAX_PATH_DEPTH

/** A name in a directory that is held open. `.` is the directory itself. */
export interface Place {
  readonly directory: PinnedDirectory
  readonly name: string
  /** Names behind it, when the walk ended before the end of the path. */
  readonly rest?: readonly string[]
}

export interface WalkOptions {
  /** Whether a link as last name is followed. */
  readonly followLast: boolean
  /** Whether missing directories on the way are made. */
  readonly createParents?: boolean
  /** Whether the walk ends at what is missing or no directory, with what is left of the path. */
  readonly stopsAtMissing?: boolean
}

interface WalkSource extends WalkOptions {
  /** Whether a link on the way is rejected. */
  readonly rejectsLinks: boolean
  openRoot(): PinnedDirectory
  /** The workspace path that an absolute link leads to; undefined: it leads out. */
  mapLink(target: string): string | undefined
}

/**
 * Resolves a path as the system does, but never past the root: links are read, not followed,
 * and each directory is opened by its name in the one before.
 * @returns the last name that is no link, in its directory; the caller closes that.
 * @throws {FileSystemError} `path-escape`; else the system's error.
 */
export function walkPath(path: string, source: WalkSource): Place {
  const walk = new PathWalk(path, source)
  try {
    return walk.run()
  } catch (error) {
    walk.closeAll()
    throw error
  }
}

class PathWalk {
  readonly #path: string
  readonly #source: WalkSource
  readonly #pending: string[]
  readonly #stack: PinnedDirectory[]
  #links = 0
  #created = 0

  constructor(path: string, source: WalkSource) {
    this.#path = path
    this.#source = source
    this.#pending = namesOf(path).toReversed()
    this.#stack = [source.openRoot()]
  }

  run(): Place {
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      const isLast = this.#pending.length === 0
      if (name === '..') this.#leave()
      else if (this.#followLink(name, isLast)) continue
      else if (isLast) return { directory: this.#detachTop(), name }
      else if (!this.#enter(name)) {
        const rest = this.#pending.toReversed()
        return { directory: this.#detachTop(), name, rest }
      }
    }
    return { directory: this.#detachTop(), name: '.' }
  }

  closeAll(): void {
    for (const directory of this.#stack.splice(0)) directory.close()
  }

  get #top(): PinnedDirectory {
    const top = this.#stack.at(-1)
    if (top === undefined) throw new FileSystemError('path-escape', this.#path)
    return top
  }

  /** Hands the innermost directory over and closes the others. */
  #detachTop(): PinnedDirectory {
    const top = this.#top
    this.#stack.pop()
    this.closeAll()
    return top
  }

  #leave(): void {
    if (this.#stack.length === 1) throw new FileSystemError('path-escape', this.#path)
    this.#stack.pop()?.close()
  }

  #followLink(name: string, isLast: boolean): boolean {
    const target = readLink(this.#top.at(name))
    if (target === undefined) return false
    if (isLast && !this.#source.followLast) return false
    if (this.#source.rejectsLinks) throw new FileSystemError('path-escape', this.#path)
    this.#countLink()
    const mapped = target.startsWith('/') ? this.#source.mapLink(target) : target
    if (mapped === undefined) throw new FileSystemError('path-escape', this.#path)
    if (target.startsWith('/')) {
      this.closeAll()
      this.#stack.push(this.#source.openRoot())
    }
    this.#pending.push(...namesOf(mapped).toReversed())
    return true
  }

  /** @returns false when there is no such directory, and the walk ends at that. */
  #enter(name: string): boolean {
    try {
      this.#stack.push(this.#top.child(name))
    } catch (error) {
      const errno = errnoOf(error)
      if (errno === 'ENOENT' && this.#source.createParents === true) this.#create(name)
      // A link was put there after the check: check again. A file that stays a file ends it.
      else if (errno === 'ELOOP' || (errno === 'ENOTDIR' && this.#isLink(name))) this.#retry(name)
      else if (this.#source.stopsAtMissing === true && isMissing(error)) return false
      else throw error
    }
    return true
  }

  #create(name: string): void {
    try {
      mkdirSync(this.#top.at(name))
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error
    }
    this.#created += 1
    if (this.#created > MAX_CREATED) throw new FileSystemError('not-found', this.#path)
    this.#pending.push(name)
  }

  #isLink(name: string): boolean {
    return readLink(this.#top.at(name)) !== undefined
  }

  #retry(name: string): void {
    this.#countLink()
    this.#pending.push(name)
  }

  /** Bounds links, loops of links, and races with whoever swaps them. */
  #countLink(): void {
    this.#links += 1
    if (this.#links <= MAX_LINKS) return
    throw new FileSystemError('not-found', this.#path, {
      detail: 'its links lead in a circle, or through too many others',
    })
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** Target of a link; undefined for anything else and for nothing. */
function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'EINVAL' || errno === 'ENOENT') return undefined
    throw error
  }
}
