import { SnapshotStoreError } from '@helix-agents/core'
import { AwsClient } from 'aws4fetch'
import { ExponentialBackoff, handleType, retry } from 'cockatiel'
import type { BucketSettings } from './bucket-options.ts'

const FIRST_DELAY_MS = 100
const MAX_DELAY_MS = 5000
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])
const NOT_FOUND = 404
const EXISTS = 412
const CONFLICT = 409
const FULL = 507
const ERROR_CODE = /<Code>([A-Za-z]{1,64})<\/Code>/
const KEYS_A_PAGE = 1000
/** Requests of one call at a time. */
const AT_ONCE = 16

/** An object of a list. */
export interface ListedObject {
  readonly key: string
  readonly bytes: number
}

interface Sent {
  readonly status: number
  readonly body: Uint8Array
}

/** Nothing of the request is known to have happened, and the same may succeed later. */
class PassingFailure extends Error {}

/** The few requests that a store sends. Errors name no key, no URL and no credentials. */
export class Bucket {
  readonly #settings: BucketSettings
  readonly #client: AwsClient

  constructor(settings: BucketSettings) {
    const { accessKeyId, secretAccessKey, region, sessionToken } = settings
    this.#settings = settings
    const session = sessionToken === undefined ? {} : { sessionToken }
    this.#client = new AwsClient({
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
      ...session,
    })
  }

  /** @throws {SnapshotStoreError} */
  async get(key: string): Promise<Uint8Array | undefined> {
    const { status, body } = await this.#send('GET', key)
    return status === NOT_FOUND ? undefined : body
  }

  /** @throws {SnapshotStoreError} */
  async has(key: string): Promise<boolean> {
    return (await this.#send('HEAD', key)).status !== NOT_FOUND
  }

  /** @param sha256 of the bytes, in hexadecimal: the server rejects others. @throws {SnapshotStoreError} */
  async put(key: string, bytes: Uint8Array, sha256?: string): Promise<void> {
    const headers = sha256 === undefined ? {} : { 'x-amz-content-sha256': sha256 }
    await this.#send('PUT', key, { bytes, headers })
  }

  /** Puts an object where none is. @returns whether it is there with these bytes by this call */
  async putNew(key: string, bytes: Uint8Array): Promise<boolean> {
    const attempts = { count: 0 }
    const headers = { 'if-none-match': '*' }
    const { status } = await this.#send('PUT', key, { bytes, headers, attempts })
    if (status !== EXISTS && status !== CONFLICT) return true
    // The answer of an earlier attempt may have been lost.
    return attempts.count > 1 && isEqual(await this.get(key), bytes)
  }

  /** One that is gone is no error. @throws {SnapshotStoreError} */
  async delete(key: string): Promise<void> {
    await this.#send('DELETE', key)
  }

  /** Objects whose keys begin so, sorted, behind `after`. @throws {SnapshotStoreError} */
  async *list(prefix: string, after?: string): AsyncGenerator<ListedObject, void> {
    for (let last = after; ;) {
      const query = new URLSearchParams({ 'list-type': '2', prefix, 'max-keys': `${KEYS_A_PAGE}` })
      if (last !== undefined) query.set('start-after', last)
      const { status, body } = await this.#send('GET', '', { query })
      if (status === NOT_FOUND) throw failed('there is no such bucket')
      const text = new TextDecoder().decode(body)
      const objects = objectsIn(text)
      yield* objects
      last = objects.at(-1)?.key
      if (last === undefined || !text.includes('<IsTruncated>true<')) return
    }
  }

  /** @throws {SnapshotStoreError} */
  async keys(prefix: string): Promise<readonly string[]> {
    const keys: string[] = []
    for await (const { key } of this.list(prefix)) keys.push(key)
    return keys
  }

  async #send(
    method: string,
    key: string,
    request: {
      readonly bytes?: Uint8Array
      readonly headers?: Readonly<Record<string, string>>
      readonly query?: URLSearchParams
      readonly attempts?: { count: number }
    } = {},
  ): Promise<Sent> {
    const { retries, bucketUrl } = this.#settings
    const { bytes, headers = {}, query, attempts = { count: 0 } } = request
    const url = `${bucketUrl}${key === '' ? '' : `/${key}`}${query ? `?${query}` : ''}`
    const backoff = new ExponentialBackoff({ initialDelay: FIRST_DELAY_MS, maxDelay: MAX_DELAY_MS })
    const policy = retry(handleType(PassingFailure), { maxAttempts: retries, backoff })
    try {
      return await policy.execute(async () => {
        attempts.count += 1
        return this.#sendOnce(url, { method, headers, ...(bytes && { body: bytes.slice() }) })
      })
    } catch (cause) {
      if (SnapshotStoreError.isInstance(cause)) throw cause
      throw failed(cause instanceof PassingFailure ? cause.message : 'the request failed', cause)
    }
  }

  /** Signed anew each time: a signature has the time in it. */
  async #sendOnce(url: string, init: RequestInit): Promise<Sent> {
    const { fetch, requestTimeoutMs } = this.#settings
    const signed = await this.#client.sign(url, init)
    try {
      const response = await fetch(signed, { signal: AbortSignal.timeout(requestTimeoutMs) })
      const body = new Uint8Array(await response.arrayBuffer())
      return checked(response.status, body)
    } catch (cause) {
      if (cause instanceof PassingFailure || SnapshotStoreError.isInstance(cause)) throw cause
      throw new PassingFailure('the bucket does not answer', { cause })
    }
  }
}

/**
 * @throws {SnapshotStoreError}
 * @throws {PassingFailure}
 */
function checked(status: number, body: Uint8Array): Sent {
  if (status < 300 || status === EXISTS) return { status, body }
  const [, code = 'no code'] = ERROR_CODE.exec(new TextDecoder().decode(body)) ?? []
  if (isAnswer(status, code)) return { status, body }
  const detail = `the bucket answered ${status} (${code})`
  if (PASSING.has(status)) throw new PassingFailure(detail)
  if (status === FULL || code === 'QuotaExceeded') {
    throw new SnapshotStoreError('storage-full', detail)
  }
  throw failed(detail)
}

/** Says that something is not there, or there already. */
function isAnswer(status: number, code: string): boolean {
  if (status === NOT_FOUND) return code !== 'NoSuchBucket'
  return status === CONFLICT && code === 'ConditionalRequestConflict'
}

function failed(detail: string, cause?: unknown): SnapshotStoreError {
  return new SnapshotStoreError('unavailable', detail, {
    ...(cause !== undefined && { cause }),
    hint: 'An operator must check the URL of the bucket, its region and the rights of the key.',
  })
}

/** Keys are of this package: none has a character that XML or the list would escape. */
function objectsIn(text: string): readonly ListedObject[] {
  const contents = Array.from(text.matchAll(/<Contents>(.*?)<\/Contents>/gs), ([, one = '']) => one)
  return contents.map((one) => ({
    key: /<Key>(.*?)<\/Key>/s.exec(one)?.[1] ?? '',
    bytes: Number(/<Size>(\d+)<\/Size>/.exec(one)?.[1] ?? 0),
  }))
}

function isEqual(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a?.length === b.length && a.every((byte, index) => byte === b[index])
}

/** Runs a request for each item, so many at a time. */
export async function forAll<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(run))))
  }
  return results
}
