/** `other`: a pipe, a socket or a device, which can be listed, moved and removed, never read. */
export type FileType = 'file' | 'directory' | 'symlink' | 'other'

/** One entry of a directory listing. */
export interface FileEntry {
  readonly name: string
  /** Absolute in the workspace. */
  readonly path: string
  readonly type: FileType
  /** Bytes; files only. */
  readonly size?: number
}

/** What is known of a file or directory without its content. */
export interface FileStat {
  /** Absolute in the workspace, normalised. */
  readonly path: string
  readonly type: FileType
  /** Bytes; 0 for a directory. */
  readonly size: number
  readonly mtime: Date
  /** Opaque; differs after every content change, also within one millisecond. */
  readonly version: string
}

/** Conditions of a write. */
export interface WriteOptions {
  /** Write only while the file has this version, else `stale-write`. */
  readonly ifVersion?: string
  /** Write only when nothing has this path, else `already-exists`. */
  readonly ifAbsent?: boolean
}

/** Options of a search for names. */
export interface GlobOptions {
  /** Directory to search; the pattern is relative to it. Default `/`. */
  readonly path?: string
  /** Stop after this many paths. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

/** Options of a search in contents. */
export interface GrepOptions {
  /** File or directory to search. Default `/`. */
  readonly path?: string
  /** Default `regex`, in RE2 syntax: linear time, no look-around, no back-references. */
  readonly mode?: 'regex' | 'literal'
  readonly ignoreCase?: boolean
  /** Only files whose path matches. A pattern without `/` is tested against the file name. */
  readonly includeGlob?: string
  /** Lines shown before and after each match. Default 0. */
  readonly context?: number
  /**
   * Stop after this many matching lines. Default 1,000. Whatever it is, about 8,000,000 characters of
   * lines are the most.
   */
  readonly maxResults?: number
  /** Larger files are not searched but listed in `skippedPaths`. Default 10; `Infinity` for all. */
  readonly maxGrepFileSizeMb?: number
  readonly signal?: AbortSignal
}

/** One line that matches. */
export interface GrepMatch {
  readonly path: string
  /** Starts at 1. */
  readonly lineNumber: number
  /** Without its line end. */
  readonly line: string
  readonly before?: readonly string[]
  readonly after?: readonly string[]
}

/** The result of a search in contents. */
export interface GrepResult {
  /** Sorted by path, then by line. */
  readonly matches: readonly GrepMatch[]
  /**
   * Files over the size limit, directories nested past the limits of paths, and files with lines too
   * long to be searched as a whole.
   */
  readonly skippedPaths: readonly string[]
  /** Files with a NUL byte. */
  readonly skippedBinaryPaths: readonly string[]
  /** False when the search stopped early or skipped a file. */
  readonly countIsComplete: boolean
}

/** Which part of a file a stream reads. */
export interface ReadStreamOptions {
  /** First byte. Default 0. */
  readonly offset?: number
  /** Number of bytes. Default: to the end. */
  readonly length?: number
  readonly signal?: AbortSignal
}

/** Options of a copy or a move. */
export interface TransferOptions {
  /** Replace an existing target file. Default false: `already-exists`. */
  readonly overwrite?: boolean
}

/** A change seen by `watch`. */
export interface FileEvent {
  readonly type: 'created' | 'changed' | 'removed'
  readonly path: string
}

/** A path as it was at one moment. */
export interface PathAhead {
  readonly stat: FileStat
  /** Permission bits, 0 to 0o777. */
  readonly mode: number
  /** Content of a file. Absent: it is read by itself. */
  readonly bytes?: Uint8Array
}

/** What is read ahead. */
export interface ReadAheadOptions {
  /** Whether the content of a file is known, so that it need not be read. */
  readonly isKnown: (stat: FileStat) => boolean
  readonly signal?: AbortSignal | undefined
}

/** Permission bits of a path. */
export interface FileMode {
  readonly path: string
  readonly mode: number
}

/**
 * What snapshots need of files beyond `FileSystem`. Paths are those of `FileSystem`, and no link is
 * followed on the way or in the last place.
 */
export interface FileAttributes {
  /** Text of a symbolic link, as it is stored. @throws {FileSystemError} `not-found`. */
  readLink?(path: string): Promise<string>
  /** Makes a symbolic link. @throws {FileSystemError} `already-exists`, `not-found` (the parent). */
  makeLink?(path: string, target: string): Promise<void>
  /** Permission bits of a file or directory, 0 to 0o777. @throws {FileSystemError} `not-found`. */
  readMode?(path: string): Promise<number>
  /**
   * Sets the permission bits of files and directories, in the order given; there may be many.
   * @throws {FileSystemError} `not-found`; those before it are set.
   */
  writeModes?(
    modes: readonly FileMode[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<void>
  /**
   * Describes paths, and reads the small files among them, in few calls: for providers where each call
   * is a round trip. What changes meanwhile, is missing or is a link is left out. The map is the caller's.
   */
  readAhead?(
    entries: readonly FileEntry[],
    options: ReadAheadOptions,
  ): Promise<Map<string, PathAhead>>
}

/**
 * The files of one workspace.
 *
 * Paths are POSIX and rooted at the workspace: `/a/b` and `a/b` name the same file. A path
 * that climbs past the root is `path-escape`; one with a NUL, longer than 4,096 bytes, with a name
 * longer than 255 bytes or with more than 256 names is `invalid-path`. Nothing is touched when a call throws.
 *
 * Every method throws `FileSystemError` with the codes named here, and `WorkspaceEvictedError`
 * when the backend is gone. Symbolic links are followed inside the workspace; one that leads
 * out is `path-escape`, and links that lead in a circle are `not-found`.
 */
export interface FileSystem {
  /**
   * Reads a whole file. The result is the caller's to keep.
   * @throws {FileSystemError} `not-found`, `is-directory`.
   */
  readFile(path: string): Promise<Uint8Array>
  /**
   * Creates or replaces a file, and its parents. Text is stored as UTF-8. Atomic: a reader
   * sees the old or the new content, whole.
   * @throws {FileSystemError} `is-directory`, `not-directory` (a parent is a file),
   * `stale-write`, `already-exists`, `too-large`, `storage-full`.
   */
  writeFile(path: string, data: Uint8Array | string, options?: WriteOptions): Promise<FileStat>
  /**
   * Adds to the end of a file; creates it when missing. Concurrent appends lose nothing.
   * @throws {FileSystemError} as `writeFile`.
   */
  appendFile(path: string, data: Uint8Array | string): Promise<FileStat>
  /**
   * The direct children of a directory, sorted by name (code point order). The root may be empty.
   * @throws {FileSystemError} `not-found`, `not-directory`.
   */
  ls(path: string): Promise<FileEntry[]>
  /**
   * Paths of the files that match, sorted. `*`, `**`, `?`, `[…]`, `{a,b}`; a leading dot needs
   * no special care. Links to directories are not entered.
   * @throws {FileSystemError} `invalid-pattern`, `path-escape`; `not-found` when `path` is missing.
   */
  glob(pattern: string, options?: GlobOptions): Promise<string[]>
  /**
   * Lines that match, in every text file below a path. Time is linear in the bytes searched.
   * @throws {FileSystemError} `invalid-pattern`; `not-found` when `path` is missing.
   */
  grep(pattern: string, options?: GrepOptions): Promise<GrepResult>
  /** @throws {FileSystemError} `not-found`. */
  stat(path: string): Promise<FileStat>
  /**
   * Makes a directory. With `recursive` also its parents, and an existing one is fine.
   * @throws {FileSystemError} `already-exists`, `not-found` (the parent), `not-directory`.
   */
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  /**
   * Removes a file, a link, or an empty directory; with `recursive` a whole subtree. The root
   * itself stays: removing `/` recursively empties it.
   * @throws {FileSystemError} `not-found`, `not-empty`.
   */
  rm(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  /**
   * Copies a file or a subtree; a link in the last place of either path is followed. A file that
   * is replaced keeps its permissions, as with `writeFile`; a new one has those of its source,
   * without set-user, set-group and sticky bits.
   * @throws {FileSystemError} `not-found`, `already-exists`, `invalid-path` (into itself, or a path
   * of the result is past the limits of paths), `is-directory` (over a directory),
   * `permission-denied` (over a pipe, a socket or a device).
   */
  copy(from: string, to: string, options?: TransferOptions): Promise<void>
  /**
   * Renames a file, a link or a subtree; atomic. A link that is in the way is replaced, not
   * followed. @throws {FileSystemError} as `copy`.
   */
  move(from: string, to: string, options?: TransferOptions): Promise<void>
  /**
   * Reads a file of any size piece by piece. A range past the end is empty.
   * @throws {FileSystemError} `not-found`, `is-directory`, before the stream is returned.
   */
  readStream(path: string, options?: ReadStreamOptions): Promise<ReadableStream<Uint8Array>>
  /**
   * Stores a stream of any size, atomically at its end. A source that fails leaves the old file.
   * @throws {FileSystemError} as `writeFile`.
   */
  writeStream(
    path: string,
    source: ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<FileStat>
  /**
   * The file as text, where that is cheaper than bytes; invalid UTF-8 becomes U+FFFD. Callers
   * use `readText(fs, path)`, which falls back to `readFile`.
   */
  readText?(path: string): Promise<string>
  /**
   * The normalised path of what a path reaches, with every link on the way followed; what is
   * missing keeps its spelling. Providers whose workspaces can hold links have it together with
   * `withoutLinks`: path rules are checked on this path, and hold for what the call then uses.
   * `followLast: false` keeps a link in the last place. Default: it is followed.
   * @throws {FileSystemError} `path-escape`, `not-found` for links that lead in a circle.
   */
  realPath?(path: string, options?: { readonly followLast?: boolean }): Promise<string>
  /**
   * The same files for paths without links: a link on the way, whenever it was made, is
   * `path-escape`, and searches find no links. A link in the last place can be removed, moved
   * and replaced, as nothing of these follows it.
   */
  withoutLinks?(): FileSystem
  /**
   * For snapshots: links, permissions, many files in one call. No tool reaches them, and neither does anything behind a
   * policy. Absent: the provider has none of it.
   */
  readonly attributes?: FileAttributes
  /** Calls back for each change below a path until the returned function is called. */
  watch?(path: string, callback: (event: FileEvent) => Promise<void>): Promise<() => void>
}
