import { WorkspaceFailedError } from '@helix-agents/core'
import * as z from 'zod'

/** Kind of the provider in a declaration, and its id. */
export const SANDBOX_KIND = 'cloudflare-sandbox'

/** The directory of the container that is the workspace. */
export const WORKSPACE_ROOT = '/workspace'

/** The only binding of the Worker that the SDK keeps backups in. */
export const BACKUP_BINDING = 'BACKUP_BUCKET'

const DAY_SECONDS = 86_400
/** The SDK takes a snapshot for expired so long before its end. */
const EXPIRY_MARGIN_SECONDS = 60
const MAX_TTL_SECONDS = 3650 * DAY_SECONDS
/** Starts the ids that are derived from sessions; no declaration may choose one. */
export const DERIVED_ID_PREFIX = 'hx-'

/** What the platform takes as an id and reads the same everywhere. */
export const SANDBOX_ID = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const RESERVED_IDS = ['www', 'api', 'admin', 'root', 'system', 'cloudflare', 'workers']

const sandboxId = z
  .string()
  .regex(SANDBOX_ID, 'has 1 to 63 lowercase letters, digits and inner hyphens')
  .refine((id) => !RESERVED_IDS.includes(id), 'is reserved by the platform')
  .refine((id) => !id.startsWith(DERIVED_ID_PREFIX), `must not start with ${DERIVED_ID_PREFIX}`)

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name')
const variableValue = z.string().refine((value) => !value.includes('\0'), 'holds a NUL')

const absolutePath = z
  .string()
  .regex(/^(?:\/[A-Za-z0-9._-]+)+$/, 'is not a plain absolute path')
  .refine((path) => !path.split('/').some((name) => name === '.' || name === '..'), 'holds dots')

const mountSchema = z.strictObject({
  /** Name of an R2 binding of the Worker, or of a bucket of `endpoint`. */
  bucket: z.string().min(1).max(128),
  /** Absolute path in the container; `/workspace` keeps all files of the workspace. */
  path: absolutePath,
  /** Directory of the bucket. Below it each workspace of each session has its own. */
  prefix: absolutePath.exactOptional(),
  readOnly: z.boolean().exactOptional(),
  /** The prefix as it is, for every session. */
  shareAcrossSessions: z.boolean().exactOptional(),
  /** Of an S3 service, instead of R2. */
  endpoint: z
    .url({ protocol: /^https?$/, abort: true })
    .refine(isPlainAddress, 'holds more than an address: credentials belong into the Worker')
    .exactOptional(),
})

const configSchema = z
  .strictObject({
    kind: z.literal(SANDBOX_KIND),
    /** A sandbox that several sessions share. Default: one of this session and workspace alone. */
    id: sandboxId.exactOptional(),
    /** Must stand next to `id`, so that no sandbox is shared by accident. */
    shareAcrossSessions: z.boolean().exactOptional(),
    /** Idle time after which the container stops and its disk is gone. Default `10m`. */
    sleepAfter: z
      .union([
        z.string().regex(/^0*[1-9]\d{0,6}[smh]$/, 'is a time such as 10m'),
        z.number().int().positive(),
      ])
      .exactOptional(),
    /** The end of the session ends the container at once. */
    destroyOnClose: z.boolean().default(false),
    /** Turns snapshots on. The SDK knows one binding only, `BACKUP_BUCKET`. */
    backupR2Binding: z
      .literal(BACKUP_BINDING, { error: `must be ${BACKUP_BINDING}: the SDK uses no other` })
      .exactOptional(),
    /** Life of a snapshot. Default three days. */
    backupTtlSeconds: z
      .number()
      .int()
      .gt(EXPIRY_MARGIN_SECONDS, 'has to be more than a minute, which the SDK takes off')
      .max(MAX_TTL_SECONDS)
      .default(3 * DAY_SECONDS),
    /** The same for the whole life of a sandbox. */
    transport: z.enum(['rpc', 'http', 'websocket']).default('rpc'),
    /** Of every command, process and code context. */
    env: z.record(variableName, variableValue).readonly().default({}),
    mounts: z.array(mountSchema).max(16).readonly().default([]),
    /** A container that lost its disk gets the last snapshot back. */
    autoRestore: z.boolean().default(false),
  })
  .check(({ value, issues }) => {
    for (const [path, message] of findContradictions(value)) {
      issues.push({ code: 'custom', path: [path], message, input: value })
    }
  })

type Shape = z.output<typeof configSchema>

/** A bucket that is mounted into the container. */
export type SandboxMount = z.output<typeof mountSchema>

/** What an agent declares under `provider`. */
export type CloudflareSandboxConfigInput = z.input<typeof configSchema>

/** The same with its defaults. */
export type CloudflareSandboxConfig = Readonly<Shape>

/** What a workspace has whose declaration is not known. */
export const DEFAULT_CONFIG: CloudflareSandboxConfig = configSchema.parse({ kind: SANDBOX_KIND })

/** @throws {WorkspaceFailedError} `config-invalid`, naming each bad field. */
export function parseSandboxConfig(config: unknown): CloudflareSandboxConfig {
  const parsed = configSchema.safeParse(config)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'provider'}: ${issue.message}`,
  )
  throw new WorkspaceFailedError('config-invalid', `${SANDBOX_KIND}: ${problems.join('; ')}`, {
    cause: parsed.error,
  })
}

/** Whether the files of the workspace are on a mount, and so outlive the container. */
export function isRootMounted({ mounts }: Pick<CloudflareSandboxConfig, 'mounts'>): boolean {
  return mounts.some(({ path }) => path === WORKSPACE_ROOT)
}

/** No user, password or query: an address is named in errors. */
function isPlainAddress(address: string): boolean {
  const { username, password, search, hash } = new URL(address)
  return `${username}${password}${search}${hash}` === ''
}

/** Options that are right alone and wrong together. */
function* findContradictions(config: Shape): Generator<[path: string, message: string]> {
  if (config.shareAcrossSessions === true && config.id === undefined) {
    yield ['shareAcrossSessions', 'needs an id to share']
  }
  if (config.autoRestore && config.backupR2Binding === undefined) {
    yield ['autoRestore', `needs backupR2Binding: '${BACKUP_BINDING}'`]
  }
  if (config.autoRestore && config.id !== undefined) {
    yield ['autoRestore', 'would bring files of one session over those of another']
  }
  if (config.backupR2Binding !== undefined && isRootMounted(config)) {
    yield ['backupR2Binding', `a restore would write into the mount at ${WORKSPACE_ROOT}`]
  }
  yield* findMountProblems(config.mounts)
}

function* findMountProblems(
  mounts: readonly SandboxMount[],
): Generator<[path: string, message: string]> {
  const seen = new Set<string>()
  const buckets = new Set<string>()
  for (const { path, bucket, endpoint } of mounts) {
    if (seen.has(path)) yield ['mounts', `two are at ${path}`]
    seen.add(path)
    // A binding can be mounted once in a sandbox: with one prefix, read-only or not.
    if (endpoint === undefined && buckets.has(bucket)) yield ['mounts', `${bucket} is there twice`]
    if (endpoint === undefined) buckets.add(bucket)
  }
}
