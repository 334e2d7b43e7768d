import type { OpenedSnapshots } from '../../../cli-host.ts'
import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'
import { importInstalled } from '../../../input/import-installed.ts'

const PARAMETERS = ['endpoint', 'region', 'prefix'] as const
const SHAPE = 's3://bucket?endpoint=https://host&region=…&prefix=…/'

type Environment = Readonly<Record<string, string | undefined>>
type BucketParameters = Partial<Record<(typeof PARAMETERS)[number], string>>

/**
 * Opens the snapshots of a bucket, with the credentials of the environment.
 * @param place `s3://bucket`, with `endpoint`, `region` and `prefix` as parameters.
 * @throws {CommandError} for a URL that is none, and without credentials.
 */
export async function openBucketSnapshots(
  place: string,
  { env, fetch }: { readonly env: Environment; readonly fetch: typeof globalThis.fetch },
): Promise<OpenedSnapshots> {
  const options = { ...bucketOf(place, env), ...credentialsOf(env), fetch }
  const { S3SnapshotStore } = await importInstalled(
    '@helix-agents/snapshot-store-s3',
    () => import('@helix-agents/snapshot-store-s3'),
  )
  try {
    return { store: new S3SnapshotStore(options), close: () => undefined }
  } catch (cause) {
    if (!(cause instanceof TypeError || cause instanceof RangeError)) throw cause
    throw new CommandError(exitCodes.usage, cause.message, { cause })
  }
}

function credentialsOf({
  AWS_ACCESS_KEY_ID,
  AWS_SECRET_ACCESS_KEY,
  AWS_SESSION_TOKEN,
}: Environment) {
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
    throw usage('s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment')
  }
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  }
}

function bucketOf(place: string, env: Environment) {
  const { bucket, parameters } = parsePlace(place)
  const { prefix, region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] } = parameters
  return {
    bucketUrl: `${endpointOf(parameters, region, env)}/${bucket}`,
    ...(region !== undefined && { region }),
    ...(prefix !== undefined && { prefix }),
  }
}

function parsePlace(place: string): {
  readonly bucket: string
  readonly parameters: BucketParameters
} {
  if (!URL.canParse(place)) throw usage(`a bucket is ${SHAPE}`)
  const { host, pathname, username, password, searchParams, hash } = new URL(place)
  if (username + password !== '') throw usage('a bucket is named without credentials')
  const isPlain = /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/.test(host) && pathname.length < 2
  if (!isPlain || hash !== '') throw usage(`a bucket is ${SHAPE}`)
  const known: readonly string[] = PARAMETERS
  const unknown = [...searchParams.keys()].find((key) => !known.includes(key))
  if (unknown !== undefined) throw usage(`s3:// has no parameter ${unknown}: ${SHAPE}`)
  return { bucket: host, parameters: Object.fromEntries(searchParams) }
}

/** Without one the bucket is at Amazon. */
function endpointOf(
  { endpoint }: BucketParameters,
  region: string | undefined,
  env: Environment,
): string {
  const given = endpoint ?? env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL']
  if (given !== undefined && given !== '') return given.replace(/\/+$/, '')
  if (region !== undefined) return `https://s3.${region}.amazonaws.com`
  throw usage('s3:// needs an endpoint, or a region of Amazon')
}

function usage(message: string): CommandError {
  return new CommandError(exitCodes.usage, message)
}
