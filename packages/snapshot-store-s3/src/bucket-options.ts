import { type Clock, systemClock } from '@helix-agents/core'

const PREFIX = /^(?:[A-Za-z0-9_.-]+\/)*$/
const MAX_PREFIX = 60

/** Where the bucket of an {@link S3SnapshotStore} is, and who may use it. */
export interface S3SnapshotStoreOptions {
  /**
   * URL of the bucket, as `https://s3.eu-central-1.amazonaws.com/files` or
   * `https://<account>.r2.cloudflarestorage.com/files`.
   */
  readonly bucketUrl: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary credentials. Default: none. */
  readonly sessionToken?: string
  /** Region of the signature. Default: `auto`, which R2 and most servers take; AWS needs its own. */
  readonly region?: string
  /** In front of every key: names of 60 characters at most, each with a `/`. Default: `helix-snapshots/`. */
  readonly prefix?: string
  /** Time of one request, in milliseconds. Default: 30,000. */
  readonly requestTimeoutMs?: number
  /** Retries of a request that failed for a passing reason. Default: 5. */
  readonly retries?: number
  /** Default: that of the runtime. */
  readonly fetch?: typeof globalThis.fetch
  /** Time. Machines that share a bucket must agree within minutes. Default: the time of the machine. */
  readonly clock?: Clock
}

/** The options with their defaults. */
export type BucketSettings = Required<Omit<S3SnapshotStoreOptions, 'sessionToken'>> &
  Pick<S3SnapshotStoreOptions, 'sessionToken'>

/**
 * @throws {TypeError} for a URL or credentials that are none; no message holds them.
 * @throws {RangeError} for a number or a prefix that cannot be used.
 */
export function parseOptions(options: S3SnapshotStoreOptions): BucketSettings {
  const { sessionToken } = options
  const settings = { ...defaults, ...options }
  return {
    ...settings,
    bucketUrl: parseBucketUrl(options.bucketUrl),
    accessKeyId: present('accessKeyId', options.accessKeyId),
    secretAccessKey: present('secretAccessKey', options.secretAccessKey),
    prefix: parsePrefix(settings.prefix),
    requestTimeoutMs: whole('requestTimeoutMs', settings.requestTimeoutMs, 1),
    retries: whole('retries', settings.retries, 0),
    ...(sessionToken !== undefined && { sessionToken }),
  }
}

const defaults = {
  prefix: 'helix-snapshots/',
  region: 'auto',
  requestTimeoutMs: 30_000,
  retries: 5,
  fetch: (...given: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...given),
  clock: systemClock,
} as const

function present(name: string, value: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new TypeError(`${name} is missing`)
}

function parsePrefix(prefix: string): string {
  if (PREFIX.test(prefix) && prefix.length <= MAX_PREFIX) return prefix
  throw new RangeError('prefix must be short names of A-Z, a-z, 0-9, _, . and -, each with a /')
}

function parseBucketUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const isBucket = parsed !== undefined && /^https?:$/.test(parsed.protocol)
  if (isBucket && parsed.username + parsed.password + parsed.search + parsed.hash === '') {
    return parsed.href.replace(/\/+$/, '')
  }
  throw new TypeError('bucketUrl must be https://host/bucket, without credentials and parameters')
}

function whole(name: string, value: number, smallest: number): number {
  if (Number.isSafeInteger(value) && value >= smallest && value < 2 ** 31) return value
  throw new RangeError(`${name} must be a whole number of at least ${smallest}`)
}
