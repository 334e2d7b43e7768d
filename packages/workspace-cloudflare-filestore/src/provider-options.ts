import { type Clock, type Logger, WorkspaceFailedError } from '@helix-agents/core'
import type { CodeEngine, ShellEngine } from '@helix-agents/core/provider'
import { checkKeyPrefix } from './objects/object-keys.ts'
import type { FileStoreBucket, FileStoreStorage } from './ports.ts'

/** How a {@link CloudflareFileStoreWorkspaceProvider} is set up; only `storage` is required. */
export interface CloudflareFileStoreProviderOptions {
  /** `ctx.storage` of a Durable Object with SQLite storage (`new_sqlite_classes`). */
  readonly storage: FileStoreStorage
  /** A bucket for large files. Without one, every file stays in the database. */
  readonly r2?: FileStoreBucket
  /** Starts every key in the bucket. Default `helix`. */
  readonly r2Prefix?: string
  /** A larger file goes to the bucket, in bytes. At most 32 MiB; default 4 MiB. */
  readonly inlineThresholdBytes?: number
  /**
   * A file in the bucket is objects of this size, in bytes; a stream has so much of a file in memory
   * at once. 1 byte to 32 MiB; default 4 MiB.
   */
  readonly partBytes?: number
  /** All files of a namespace together, in bytes. Default 4 GiB. */
  readonly maxBytes?: number
  /** Files and directories of a namespace together. Default 250,000. */
  readonly maxFiles?: number
  /**
   * Snapshots kept of a workspace and of those restored from it, at least 1; the oldest is dropped.
   * Default 16.
   */
  readonly maxSnapshots?: number
  /** Larger files are only read as streams or in ranges, in bytes. Default 32 MiB. */
  readonly maxWholeReadBytes?: number
  /** Bound of concurrent opens over all sessions; the others wait in turn. Default: none. */
  readonly maxGlobalConcurrentOpens?: number
  /**
   * How long an object that nothing refers to is kept, in ms. Longer than any put can take.
   * Default 10 minutes.
   */
  readonly collectionGraceMs?: number
  /**
   * Called when `collect` may have work at a time, in ms since the epoch: the owner of the object's
   * one alarm sets it, unless it is set to an earlier time. Called inside the transaction that makes
   * the work, so that a crash leaves none without an alarm. Must not throw.
   */
  readonly scheduleCollection?: (atMs: number) => void
  /** Runs commands over the files, and makes the provider offer `shell`. Default: none. */
  readonly shell?: ShellEngine
  /** Runs code over the files, and makes the provider offer `code`. Default: none. */
  readonly code?: CodeEngine
  /** Default: the time of the machine. */
  readonly clock?: Clock
  /** Default: drops every line. */
  readonly logger?: Logger
}

/** The numbers of the options, with their defaults. */
export interface FileStoreSettings {
  readonly r2Prefix: string
  readonly inlineThresholdBytes: number
  readonly partBytes: number
  readonly maxBytes: number
  readonly maxFiles: number
  readonly maxSnapshots: number
  readonly maxWholeReadBytes: number
  readonly collectionGraceMs: number
}

const MEGABYTE = 1024 * 1024
/** A part is in memory while it is put: 128 MB are all that an isolate has. */
const MAX_PART_BYTES = 32 * MEGABYTE

const DEFAULTS: FileStoreSettings = {
  r2Prefix: 'helix',
  inlineThresholdBytes: 4 * MEGABYTE,
  partBytes: 4 * MEGABYTE,
  maxBytes: 4096 * MEGABYTE,
  maxFiles: 250_000,
  maxSnapshots: 16,
  maxWholeReadBytes: 32 * MEGABYTE,
  collectionGraceMs: 600_000,
}

/** @throws {WorkspaceFailedError} `config-invalid`, naming the option. */
export function readSettings(options: CloudflareFileStoreProviderOptions): FileStoreSettings {
  const settings = {
    r2Prefix: checkKeyPrefix(options.r2Prefix ?? DEFAULTS.r2Prefix),
    inlineThresholdBytes: numberFrom(options, 'inlineThresholdBytes'),
    partBytes: numberFrom(options, 'partBytes'),
    maxBytes: numberFrom(options, 'maxBytes'),
    maxFiles: numberFrom(options, 'maxFiles'),
    maxSnapshots: numberFrom(options, 'maxSnapshots'),
    maxWholeReadBytes: numberFrom(options, 'maxWholeReadBytes'),
    collectionGraceMs: numberFrom(options, 'collectionGraceMs'),
  }
  if (settings.inlineThresholdBytes > MAX_PART_BYTES) {
    throw invalid('inlineThresholdBytes', `at most ${MAX_PART_BYTES}`)
  }
  if (settings.maxSnapshots < 1) throw invalid('maxSnapshots', 'at least 1')
  const { partBytes } = settings
  if (Number.isInteger(partBytes) && partBytes > 0 && partBytes <= MAX_PART_BYTES) return settings
  throw invalid('partBytes', `a whole number of bytes from 1 to ${MAX_PART_BYTES}`)
}

function numberFrom(
  options: CloudflareFileStoreProviderOptions,
  name: Exclude<keyof FileStoreSettings, 'r2Prefix'>,
): number {
  const value = options[name] ?? DEFAULTS[name]
  // Also rejects what is not a number.
  if (value >= 0) return value
  throw invalid(name, `0 or more, not ${value}`)
}

function invalid(name: string, problem: string): WorkspaceFailedError {
  return new WorkspaceFailedError('config-invalid', `${name} of the file store: ${problem}`)
}
