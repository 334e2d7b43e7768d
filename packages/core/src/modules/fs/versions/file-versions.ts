import { settled } from '../../../time/abort.ts'
import { BoundedMap } from './bounded-map.ts'
import { addRange, coversRange, type LineRange, rangesAfterEdit } from '../text/line-ranges.ts'
import { isWithin } from '../path/path.ts'

/** Agents remembered for one workspace, and files for each of them. */
const MAX_ACTORS = 100
const MAX_PATHS = 2000

/** The version of a file that one agent knows. */
export interface KnownVersion {
  readonly version: string
  /** Line ranges that were read, merged and sorted; absent when the whole file is known. */
  readonly ranges?: readonly (readonly [first: number, last: number])[]
}

/** The versions as they are stored with the session. */
export interface FileVersionsSnapshot {
  /** Agent → path → what it knows. */
  readonly known: Readonly<Record<string, Readonly<Record<string, KnownVersion>>>>
  /** Path → the last writer among the agents of the session. */
  readonly writers: Readonly<Record<string, { readonly actor: string; readonly version: string }>>
}

/** The part of a file that was read. */
export interface ReadLines {
  readonly first: number
  readonly last: number
  /** Lines of the whole file. */
  readonly total: number
}

/**
 * What a writer knows after its write: the `whole` file, since it wrote it; what it knew `before`,
 * after adding to the end; or, after an edit, the lines above it and those it wrote.
 */
export type KnownAfterWrite = 'whole' | 'before' | LineRange

/** Who changed a file since it was read; no writer: a command, or another process. */
export interface StaleFile {
  readonly writer?: string
}

interface Writer {
  readonly actor: string
  readonly version: string
}

type KnownPaths = BoundedMap<string, KnownVersion>

/**
 * Which versions of which files the agents of a session have seen and written. Paths are
 * normalised. Bounded: what was not used for longest is forgotten, and then counts as not read.
 * Every operation is O(1), except those on subtrees and on the ledger as a whole.
 */
export class FileVersions {
  readonly #actors: BoundedMap<string, KnownPaths>
  readonly #writers: BoundedMap<string, Writer>
  /** Path → the last change that is under way. */
  readonly #changes = new Map<string, Promise<unknown>>()
  #isChanged = false

  constructor(snapshot: FileVersionsSnapshot = { known: {}, writers: {} }) {
    const actors = Object.entries(snapshot.known).map(
      ([actor, paths]) => [actor, new BoundedMap(MAX_PATHS, Object.entries(paths))] as const,
    )
    this.#actors = new BoundedMap(MAX_ACTORS, actors)
    this.#writers = new BoundedMap(MAX_PATHS, Object.entries(snapshot.writers))
  }

  /**
   * Runs a change of a file after the earlier ones of its path, so that their writes are recorded in
   * the order in which they took effect. `work` must not call this for the same path.
   */
  async inOrder<T>(path: string, work: () => Promise<T>): Promise<T> {
    const earlier = this.#changes.get(path)
    // However the earlier one ended: its caller has its error.
    const change = earlier === undefined ? work() : settled(earlier).then(work)
    this.#changes.set(path, change)
    try {
      return await change
    } finally {
      if (this.#changes.get(path) === change) this.#changes.delete(path)
    }
  }

  /** An agent has seen this version: all of it, or some lines. Ranges of one version add up. */
  recordRead(actor: string, path: string, version: string, lines?: ReadLines): void {
    const paths = this.#pathsOf(actor)
    const before = paths.peek(path)
    const isSame = before?.version === version
    // The usual case, a file read again, must not make the session be stored again.
    if (isSame && before.ranges === undefined) return paths.set(path, before)
    paths.set(path, readEntry(version, isSame ? (before.ranges ?? []) : [], lines))
    this.#isChanged = true
  }

  /** An agent has written this version. */
  recordWrite(
    actor: string,
    path: string,
    version: string,
    known: KnownAfterWrite = 'whole',
  ): void {
    const paths = this.#pathsOf(actor)
    const before = paths.peek(path)
    if (known === 'whole') paths.set(path, { version })
    else if (before !== undefined) paths.set(path, writtenEntry(version, before.ranges, known))
    else if (known !== 'before') paths.set(path, { version, ranges: [known] })
    this.#writers.set(path, { actor, version })
    this.#isChanged = true
  }

  /** The path and all below it are gone, or not to be relied on. */
  forget(path: string): void {
    for (const [, paths] of this.#actors.entries()) {
      for (const [known] of paths.entries()) if (isWithin(known, path)) paths.delete(known)
    }
    for (const [known] of this.#writers.entries()) {
      if (isWithin(known, path)) this.#writers.delete(known)
    }
    this.#isChanged = true
  }

  /** A file or subtree has a new path; what was known of it stays known. */
  rename(from: string, to: string): void {
    const moved = (path: string): string => to + path.slice(from.length)
    const actors = this.#actors.entries().map(([actor, paths]) => {
      const below = paths.entries().filter(([path]) => isWithin(path, from))
      return { actor, below }
    })
    const writers = this.#writers.entries().filter(([path]) => isWithin(path, from))
    this.forget(from)
    this.forget(to)
    for (const { actor, below } of actors) {
      for (const [path, entry] of below) this.#pathsOf(actor).set(moved(path), entry)
    }
    for (const [path, writer] of writers) this.#writers.set(moved(path), writer)
  }

  /** A file has a new version without new content, because it was moved. */
  revise(path: string, from: string, to: string): void {
    if (from === to) return
    for (const [, paths] of this.#actors.entries()) {
      const entry = paths.peek(path)
      if (entry?.version === from) paths.set(path, { ...entry, version: to })
    }
    const writer = this.#writers.peek(path)
    if (writer?.version === from) this.#writers.set(path, { ...writer, version: to })
    this.#isChanged = true
  }

  /**
   * Compares a file's current version with what the agent last saw of it. Undefined when they
   * agree, and when the agent has never seen the file.
   */
  check(actor: string, path: string, version: string): StaleFile | undefined {
    const entry = this.#actors.peek(actor)?.peek(path)
    if (entry === undefined || entry.version === version) return undefined
    const writer = this.#writers.peek(path)
    return writer?.version === version ? { writer: writer.actor } : {}
  }

  /** Whether the agent has read or written the file, or a part of it. */
  hasSeen(actor: string, path: string): boolean {
    return this.#actors.peek(actor)?.peek(path) !== undefined
  }

  /** Whether the agent has seen the whole file, or these lines of it, in whichever version. */
  knows(actor: string, path: string, lines?: LineRange): boolean {
    const entry = this.#actors.peek(actor)?.peek(path)
    if (entry === undefined) return false
    if (entry.ranges === undefined) return true
    return lines !== undefined && coversRange(entry.ranges, lines)
  }

  /** What an agent knows, the files seen last first. */
  recent(actor: string, limit: number): readonly (readonly [path: string, entry: KnownVersion])[] {
    return this.#actors.peek(actor)?.entries().slice(-limit).toReversed() ?? []
  }

  /** Everything, to be stored. */
  snapshot(): FileVersionsSnapshot {
    const known = this.#actors
      .entries()
      .map(([actor, paths]) => [actor, Object.fromEntries(paths.entries())] as const)
    return {
      known: Object.fromEntries(known),
      writers: Object.fromEntries(this.#writers.entries()),
    }
  }

  /** Everything, when something has changed since the last call. */
  takeChanges(): FileVersionsSnapshot | undefined {
    if (!this.#isChanged) return undefined
    this.#isChanged = false
    return this.snapshot()
  }

  #pathsOf(actor: string): KnownPaths {
    const known = this.#actors.peek(actor) ?? new BoundedMap<string, KnownVersion>(MAX_PATHS)
    this.#actors.set(actor, known)
    return known
  }
}

function readEntry(
  version: string,
  before: readonly LineRange[],
  lines: ReadLines | undefined,
): KnownVersion {
  if (lines === undefined) return { version }
  const ranges = addRange(before, [lines.first, lines.last])
  return coversRange(ranges, [1, lines.total]) ? { version } : { version, ranges }
}

function writtenEntry(
  version: string,
  ranges: readonly LineRange[] | undefined,
  known: 'before' | LineRange,
): KnownVersion {
  if (ranges === undefined) return { version }
  return { version, ranges: known === 'before' ? ranges : rangesAfterEdit(ranges, known) }
}
