import { type Clock, type Logger, WorkspaceFailedError } from '@helix-agents/core'
import { BACKUP_BINDING, type CloudflareSandboxConfig } from './config.ts'
import type { CreateSandboxDriver } from './driver/port.ts'
import type { SandboxDirectory } from './lifecycle/sandbox-directory.ts'

const MEGABYTE = 1024 * 1024

/** How a {@link CloudflareSandboxWorkspaceProvider} is set up; only `driver` is required. */
export interface CloudflareSandboxWorkspaceProviderOptions {
  /** Reaches the sandboxes: `createSdkDriver({ source: { namespace: env.SANDBOX } })`. */
  readonly driver: CreateSandboxDriver
  /**
   * `env` of the Worker. With it, an open checks that backups and mounts have all the bindings and
   * variables that the SDK reads, and names those that are missing.
   */
  readonly bindings?: Readonly<Record<string, unknown>>
  /** Buckets are simulated, as under `wrangler dev`: backups and mounts go through the object. */
  readonly localBuckets?: boolean
  /** Records every sandbox before it is made, and its end. Default: none. */
  readonly directory?: SandboxDirectory
  /** Opens and resolves over all sessions at once; the others wait in turn. Default: no bound. */
  readonly maxGlobalConcurrentOpens?: number
  /** Time of a command or a piece of code that asks for none, in milliseconds. Default 120,000. */
  readonly defaultTimeoutMs?: number
  /** Time of every other call, such as reading a file, in milliseconds. Default 120,000. */
  readonly callTimeoutMs?: number
  /** Bytes of each output that a command returns when it asks for none. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Larger files are only read as streams or in ranges, in bytes. Default 32 MiB. */
  readonly maxWholeReadBytes?: number
  /** Files of a tree that a search covers. Default 200,000. */
  readonly maxSearchedFiles?: number
  /** Bytes that a restore may unpack. Default 4 GiB. */
  readonly maxRestoreBytes?: number
  /** Files and directories that a restore may unpack. Default 500,000. */
  readonly maxRestoreMembers?: number
  /** Default: that of the executor. */
  readonly logger?: Logger
  /** Time, for tests. Default: that of the executor. */
  readonly clock?: Clock
}

/** The numbers of the options, with their defaults. */
export interface SandboxSettings {
  readonly defaultTimeoutMs: number
  readonly callTimeoutMs: number
  readonly maxOutputBytes: number
  readonly maxWholeReadBytes: number
  readonly maxSearchedFiles: number
  readonly maxRestoreBytes: number
  readonly maxRestoreMembers: number
}

/** A timer that is set for longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

const DEFAULTS: SandboxSettings = {
  defaultTimeoutMs: 120_000,
  callTimeoutMs: 120_000,
  maxOutputBytes: MEGABYTE,
  maxWholeReadBytes: 32 * MEGABYTE,
  maxSearchedFiles: 200_000,
  maxRestoreBytes: 4096 * MEGABYTE,
  maxRestoreMembers: 500_000,
}

/** @throws {WorkspaceFailedError} `config-invalid`, naming the option. */
export function readSettings(options: CloudflareSandboxWorkspaceProviderOptions): SandboxSettings {
  const numberFrom = (name: keyof SandboxSettings): number => {
    const value = options[name] ?? DEFAULTS[name]
    const most = name.endsWith('Ms') ? LONGEST_TIMER_MS : Number.MAX_SAFE_INTEGER
    if (Number.isSafeInteger(value) && value > 0 && value <= most) return value
    throw invalid(`${name}: has to be a whole number from 1 to ${most}`)
  }
  return {
    defaultTimeoutMs: numberFrom('defaultTimeoutMs'),
    callTimeoutMs: numberFrom('callTimeoutMs'),
    maxOutputBytes: numberFrom('maxOutputBytes'),
    maxWholeReadBytes: numberFrom('maxWholeReadBytes'),
    maxSearchedFiles: numberFrom('maxSearchedFiles'),
    maxRestoreBytes: numberFrom('maxRestoreBytes'),
    maxRestoreMembers: numberFrom('maxRestoreMembers'),
  }
}

/** Outside of a simulation the container sends its backups by signed URLs. */
const REMOTE_BACKUP_NAMES: readonly (readonly string[])[] = [
  ['CLOUDFLARE_R2_ACCOUNT_ID', 'CLOUDFLARE_ACCOUNT_ID'],
  ['R2_ACCESS_KEY_ID'],
  ['R2_SECRET_ACCESS_KEY'],
  ['BACKUP_BUCKET_NAME'],
]

/**
 * Everything that the SDK will need is there, as far as the options show.
 * @throws {WorkspaceFailedError} `config-invalid`, naming all that is missing.
 */
export function assertBindings(
  config: CloudflareSandboxConfig,
  { bindings, localBuckets }: CloudflareSandboxWorkspaceProviderOptions,
): void {
  if (bindings === undefined) return
  const needsBackups = config.backupR2Binding !== undefined
  const wanted = [
    ...(needsBackups ? [[BACKUP_BINDING]] : []),
    ...(needsBackups && localBuckets !== true ? REMOTE_BACKUP_NAMES : []),
    ...config.mounts.flatMap(({ bucket, endpoint }) => (endpoint === undefined ? [[bucket]] : [])),
  ]
  const missing = wanted.filter((names) => names.every((name) => bindings[name] === undefined))
  if (missing.length === 0) return
  throw invalid(`missing in the Worker: ${missing.map((names) => names.join(' or ')).join(', ')}`)
}

function invalid(problem: string): WorkspaceFailedError {
  return new WorkspaceFailedError('config-invalid', `cloudflare-sandbox: ${problem}`, {
    hint: 'An operator must set up the Worker.',
  })
}
