// What the provider needs of a sandbox, and nothing more. Shaped on the 1.0 model (argument vectors,
// bytes, an operation is admitted or not, a handle on launch), so that a driver of the SDK and one of
// `ctx.container` are both small. No SDK type, session id, event or error class passes through it.
import type { DriverProcesses } from './processes.ts'

/**
 * The line of the platform that a driver speaks. Refs carry it. The SDK 0.13 reaches the objects and
 * containers of 0.12, and is of that line.
 */
export type DriverLine = '0.12' | '1.0'

/**
 * Which container this is. `epoch` is a marker that was written into the container and is lost with
 * its disk; `null` when none was ever written or the container could not be asked.
 */
export interface SandboxIdentity {
  /** New after each start of a container, when the platform names it. */
  readonly placement: string | null
  readonly running: boolean | 'unknown'
}

export interface EnsureOptions {
  /** The epoch that the caller knows, from its ref. Absent: a new sandbox is expected. */
  readonly knownEpoch?: string
  readonly signal: AbortSignal
}

/**
 * `created`: no epoch was known, one was written. `reattached`: the known epoch is there.
 * `cold`: another container answers, earlier files are gone; a new epoch was written.
 */
export interface EnsureOutcome {
  readonly outcome: 'created' | 'reattached' | 'cold'
  readonly epoch: string
  readonly placement: string | null
}

export interface ExecOptions {
  /** Absolute path in the container. */
  readonly cwd: string
  /** Added to what the sandbox was configured with. */
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /**
   * Bytes of each output to return; a longer one is cut in the middle and kept whole in the
   * container at `spillDirectory`.
   */
  readonly maxOutputBytes: number
  /** Absolute directory of the container for outputs that are too long. */
  readonly spillDirectory: string
  /** Awaited for each piece, in order. Set only when there is a listener: it costs a stream. */
  onStdout?(chunk: Uint8Array): Promise<void>
  onStderr?(chunk: Uint8Array): Promise<void>
}

export interface ExecOutput {
  /** Whole, or head and tail of a longer one. Exact bytes. */
  readonly bytes: Uint8Array
  readonly totalBytes: number
  /** Where the tail starts in `bytes`, when the output was cut. */
  readonly headBytes?: number
  /** Absolute path of the whole output in the container, when it was cut. */
  readonly spillPath?: string
}

/** How a command ended. Only a command that wrote its exit marker has ended: anything else throws. */
export interface ExecOutcome {
  readonly exitCode: number
  readonly stdout: ExecOutput
  readonly stderr: ExecOutput
  readonly timedOut: boolean
  readonly aborted: boolean
  readonly durationMs: number
  /** The container that ran it: compare with the epoch of the ref. `null`: it has no epoch yet. */
  readonly epoch: string | null
}

export interface DriverEntry {
  /** Relative to what was listed, with `/` between names. */
  readonly path: string
  readonly type: 'file' | 'directory' | 'symlink' | 'other'
  readonly sizeBytes: number
  readonly modifiedAtMs: number
  /** Changes with each change of the content: inode, size, time in nanoseconds. */
  readonly version: string
}

/**
 * Files of the container, by absolute path, exact bytes, hidden files included, links followed only
 * inside `root`.
 */
export interface DriverFiles {
  read(path: string, options?: ReadOptions): Promise<Uint8Array>
  readStream(path: string, options?: ReadOptions): Promise<ReadableStream<Uint8Array>>
  /** Atomic: temporary file, then rename. Makes parents. */
  write(path: string, data: Uint8Array, options?: WriteOptions): Promise<DriverEntry>
  writeStream(
    path: string,
    data: ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<DriverEntry>
  append(path: string, data: Uint8Array, options?: AppendOptions): Promise<DriverEntry>
  stat(path: string, signal?: AbortSignal): Promise<DriverEntry>
  /** In no order. */
  list(path: string, options?: ListOptions): Promise<readonly DriverEntry[]>
  makeDirectory(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  /** Of a file or a subtree, made aside and then put in place; makes parents. */
  copy(from: string, to: string, options?: TransferOptions): Promise<DriverEntry>
  /** Renames a file, a link or a subtree; makes parents. */
  move(from: string, to: string, options?: TransferOptions): Promise<DriverEntry>
  /** Runs in the container, one round trip, linear-time. Of a file: the path is empty. */
  search(path: string, query: SearchQuery): Promise<SearchOutcome>
  /** The absolute path of what a path reaches; what is missing keeps its spelling. */
  realPath(path: string, options: { readonly followLast: boolean }): Promise<string>
  /** The same files for paths without links: a link on the way is `escape`. */
  withoutLinks(): DriverFiles
  /**
   * Several files in one round trip, in the order asked for, as many as fit in `maxBytes`, at
   * least one. What is gone by now has no bytes. Absent: files are read one by one.
   */
  readMany?(paths: readonly string[], options: ReadManyOptions): Promise<readonly DriverFile[]>
  /**
   * Links and permissions, for snapshots; a link on the way or in the last place is not followed.
   * Absent: the driver knows of neither.
   */
  readonly attributes?: DriverAttributes
}

/** A path and its permission bits, 0 to 0o777. */
export interface DriverMode {
  readonly path: string
  readonly mode: number
}

export interface DriverAttributes {
  /** In the order asked for; undefined for what is missing, or a link. */
  statMany(
    paths: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly ((DriverEntry & DriverMode) | undefined)[]>
  /** In the order given; the first that fails ends it. */
  writeModes(modes: readonly DriverMode[], signal?: AbortSignal): Promise<void>
  readLink(path: string): Promise<string>
  /** Rejected with `exists` when something is there. */
  makeLink(path: string, target: string): Promise<void>
}

export interface AppendOptions {
  /** Rejected with `too-large`, before anything is written, when the file would become larger. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
}

export interface TransferOptions {
  /** Replaces a file that is there; else that is `exists`. A directory never: `is-directory`. */
  readonly overwrite?: boolean
  /** Rejected with `name-too-long` when something below a directory has more than this. */
  readonly below?: SubtreeLimits
}

/** What a path below a directory may have more than the directory itself. */
export interface SubtreeLimits {
  /** Names. */
  readonly depth: number
  readonly bytes: number
}

export interface ReadManyOptions {
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

export interface DriverFile {
  readonly path: string
  readonly bytes?: Uint8Array
}

export interface ReadOptions {
  readonly offset?: number
  readonly length?: number
  readonly maxBytes?: number
  readonly signal?: AbortSignal
}

export interface WriteOptions {
  /** Rejected with `version-conflict` when the file has another version by now. */
  readonly ifVersion?: string
  /** Rejected with `exists` when something is there. */
  readonly ifAbsent?: boolean
  readonly signal?: AbortSignal
}

export interface ListOptions {
  readonly recursive?: boolean
  /** With more it is `too-large`. */
  readonly maxEntries?: number
  /** A directory that is not entered, relative to what is listed. */
  readonly skip?: string
  readonly signal?: AbortSignal
}

export interface SearchQuery {
  /** Bytes that each hit must hold: a filter only. Empty: every file may hold a hit. */
  readonly literal: string
  readonly ignoreCase: boolean
  readonly maxFileBytes: number
  readonly maxFiles: number
  /** A directory that is not entered, relative to what is searched. */
  readonly skip?: string
  readonly signal?: AbortSignal
}

export interface SearchOutcome {
  /** Files that may hold a hit, relative paths, in no order. */
  readonly paths: readonly string[]
  readonly tooLarge: readonly string[]
  readonly complete: boolean
}

export type DriverCodeOutput =
  | { readonly type: 'stdout' | 'stderr'; readonly data: Uint8Array }
  | { readonly type: 'display'; readonly mime: string; readonly data: Uint8Array }
  | { readonly type: 'result'; readonly value: unknown }

export interface DriverCodeOutcome {
  /** In the order in which they came; one that was too long is cut in the middle. */
  readonly outputs: readonly DriverCodeOutput[]
  /** What the code has thrown, or why its interpreter ended. */
  readonly error?: { readonly name: string; readonly message: string; readonly trace?: string }
  readonly exitCode: number
  readonly timedOut: boolean
  readonly aborted: boolean
  /** The container that ran it, as of a command. */
  readonly epoch: string | null
}

/** As of a command; code has nothing but its outputs to listen to. */
export interface DriverCodeOptions extends Omit<
  ExecOptions,
  'env' | 'onStdout' | 'onStderr' | 'timeoutMs'
> {
  readonly timeoutMs: number
  /** Awaited for each output, in order. Set only when there is a listener. */
  onOutput?(output: DriverCodeOutput): void | Promise<void>
}

/** Interpreters. A context is made for its caller alone and never shared by language. */
export interface DriverCode {
  /** Runs code in an interpreter of its own. */
  runOnce(language: string, code: string, options: DriverCodeOptions): Promise<DriverCodeOutcome>
  create(language: string, options: { readonly cwd: string }): Promise<string>
  run(context: string, code: string, options: DriverCodeOptions): Promise<DriverCodeOutcome>
  remove(context: string): Promise<void>
}

/** A stored copy of a directory; plain JSON, safe in a ref. */
export interface DriverSnapshot {
  readonly id: string
  readonly directory: string
  /** Epoch milliseconds after which it cannot be restored. */
  readonly expiresAtMs: number
  readonly local: boolean
  /** Files and directories in it, when they were counted. */
  readonly members?: number
  /** Bytes of its files, unpacked, when they were counted. */
  readonly totalBytes?: number
}

/** A snapshot that stays until it is removed, and when it was taken. */
export interface KeptSnapshot {
  readonly takenAtMs: number
  readonly backup: DriverSnapshot
}

export interface DriverTakeOptions {
  readonly ttlSeconds: number
  /** Whose it is. */
  readonly name?: string
  /** It is kept under its name from this time on: `listKept` knows of it. */
  readonly keptAtMs?: number
  readonly signal?: AbortSignal
}

export interface DriverSnapshots {
  take(directory: string, options: DriverTakeOptions): Promise<DriverSnapshot>
  /**
   * What is kept under a name, also what was taken for a caller that died meanwhile, where the bucket
   * can be reached. Never starts a container.
   */
  listKept?(name: string): Promise<readonly KeptSnapshot[]>
  /** The name that it was taken with, as the bucket knows it; undefined when it is unknown. */
  nameOf?(snapshot: DriverSnapshot): Promise<string | undefined>
  /** Frees it, where the bucket can be reached; elsewhere its rules do. One that is gone is no error. */
  remove?(snapshot: Pick<DriverSnapshot, 'id'>, name: string): Promise<void>
  /** Exact: what the snapshot does not hold is gone from the directory afterwards. */
  restore(
    snapshot: DriverSnapshot,
    directory: string,
    limits: {
      readonly maxBytes: number
      readonly maxMembers: number
      readonly signal?: AbortSignal
    },
  ): Promise<void>
}

export interface MountRequest {
  /** An R2 binding of the Worker, or a bucket of an S3 endpoint. */
  readonly bucket: string
  readonly path: string
  readonly prefix?: string
  readonly readOnly?: boolean
  readonly endpoint?: string
  readonly local?: boolean
}

/** One sandbox. Made without contact: nothing is started before the first call. */
export interface SandboxDriver {
  readonly line: DriverLine
  /** The id the platform knows, never shown to a model. */
  readonly sandboxId: string
  readonly files: DriverFiles
  readonly processes: DriverProcesses
  readonly code: DriverCode
  /** Absent when no backup bucket is configured. */
  readonly snapshots?: DriverSnapshots
  /** Asks without starting a container. */
  identity(): Promise<SandboxIdentity>
  /** Starts the container when needed, and says which one it is. */
  ensure(options: EnsureOptions): Promise<EnsureOutcome>
  /** Runs a command to its end: one round trip, whatever it prints. */
  exec(argv: readonly string[], options: ExecOptions): Promise<ExecOutcome>
  mount(request: MountRequest): Promise<void>
  /**
   * Ends the container and its disk, and waits until the platform confirms it.
   * @throws {DriverError} `destroy-unconfirmed`: it may still run, and still costs.
   */
  destroy(): Promise<'destroyed' | 'was-absent'>
  /** Releases connections; the sandbox keeps running. */
  disconnect(): Promise<void>
}

/** Which sandbox, and how it is set up; the same for as long as the sandbox lives. */
export interface DriverSettings {
  readonly sandboxId: string
  /** Absolute directory of the container that is the workspace. */
  readonly root: string
  /** Of every command, process and code context. */
  readonly env: Readonly<Record<string, string>>
  /** Idle time after which the platform stops the container: `10m`, or seconds. */
  readonly sleepAfter?: string | number
  readonly transport: 'rpc' | 'http' | 'websocket'
  /** Backups are wanted: `snapshots` is there. `local` keeps them in a simulated bucket. */
  readonly backups?: { readonly local: boolean }
}

/** Makes the driver of a sandbox, without contact. */
export type CreateSandboxDriver = (settings: DriverSettings) => SandboxDriver
