import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { S3SnapshotStoreOptions } from '@helix-agents/snapshot-store-s3'
import S3rver from '@20minutes/s3rver'
import { AwsClient } from 'aws4fetch'

const KEY = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

/** A bucket on a server of this machine that speaks S3 and checks signatures. */
export interface LocalBucket {
  readonly options: S3SnapshotStoreOptions
  /** As an operator does. */
  readonly raw: (method: string, key: string, body?: string) => Promise<Response>
  readonly keys: (prefix: string) => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

export async function startBucket(): Promise<LocalBucket> {
  const directory = mkdtempSync(join(tmpdir(), 'helix-s3-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'files', configs: [] }],
  })
  const { port } = await server.run()
  const bucketUrl = `http://127.0.0.1:${port}/files`
  const client = new AwsClient({ ...KEY, service: 's3', region: 'us-east-1', retries: 0 })
  const raw = (method: string, key: string, body?: string): Promise<Response> =>
    client.fetch(`${bucketUrl}/${key}`, { method, ...(body !== undefined && { body }) })
  return {
    options: { bucketUrl, ...KEY, region: 'us-east-1', fetch: mended(client) },
    raw,
    keys: async (prefix) => {
      const listed = await client.fetch(`${bucketUrl}?prefix=${encodeURIComponent(prefix)}`)
      const text = await listed.text()
      return Array.from(text.matchAll(/<Key>(.*?)<\/Key>/g), ([, key = '']) => key)
    },
    close: async () => {
      await server.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Real servers take `If-None-Match` of a put, which this one ignores, and list in pages, for which this
 * one needs a cipher that is gone; its older list has the same pages.
 */
function mended(client: AwsClient): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    if (request.method === 'PUT' && request.headers.get('if-none-match') === '*') {
      const there = await client.fetch(request.url, { method: 'HEAD' })
      if (there.status === 200) return new Response('', { status: 412 })
    }
    const url = new URL(request.url)
    if (url.searchParams.get('list-type') === '2') {
      url.searchParams.delete('list-type')
      url.searchParams.set('marker', url.searchParams.get('start-after') ?? '')
      url.searchParams.delete('start-after')
      return client.fetch(url.href)
    }
    return fetch(request)
  }
}
