// The commands over a real PostgreSQL and a server that speaks S3.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase } from '@helix-agents/postgres-testbed'
import type { S3SnapshotStoreOptions } from '@helix-agents/snapshot-store-s3'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openSnapshots } from '../../src/commands/snapshots/store/open-snapshots.ts'
import { TestHost } from '../test-host.ts'

const SLOW = { timeout: 180_000 }
const SECRET = 'n0t-t0-be-told'

interface LocalBucket {
  readonly options: S3SnapshotStoreOptions
  readonly close: () => Promise<void>
}

/** Tests of the other package have it. */
async function startBucket(): Promise<LocalBucket> {
  const { href } = new URL('../../../snapshot-store-s3/test/local-bucket.ts', import.meta.url)
  const module = (await import(/* @vite-ignore */ href)) as {
    readonly startBucket: () => Promise<LocalBucket>
  }
  const bucket = await module.startBucket()
  onTestFinished(bucket.close)
  return bucket
}

let host: TestHost
beforeEach(() => {
  host = new TestHost()
})

async function run(...args: readonly string[]) {
  const { code, out, err } = await host.run(['snapshots', ...args])
  expect(out + err).not.toContain(SECRET)
  return { code, out, err }
}

function archive(): string {
  const folder = mkdtempSync(join(tmpdir(), 'helix-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'note.md'), 'hello\n', { mode: 0o644 })
  execFileSync('tar', ['-C', folder, '-cf', join(folder, 'in.tar'), 'note.md'])
  return join(folder, 'in.tar')
}

/** Every command once. */
async function workOn(store: string): Promise<readonly string[]> {
  const tar = archive()
  const ids: string[] = []
  for (const session of ['first', 'second']) {
    const there = ['--scope', 'line', '--session', session, '--store', store]
    const { code, out, err } = await run('import', tar, ...there)
    expect([code, err]).toEqual([0, '1 entries, 6 B\n'])
    ids.push(out.trim())
  }
  const listed = await run('list', '--session', 'first', '--store', store)
  expect(listed.out.split('\n')[1]).toContain(ids[0])
  expect((await run('show', ids[0] ?? '', '--store', store)).out).toContain('/note.md')
  expect((await run('diff', ...ids, '--store', store)).err).toBe('no differences\n')
  const [copy, history] = [`${tar}.copy`, join(tar, '../history.git')]
  expect(await run('export', ids[1] ?? '', '--tar', copy, '--store', store)).toMatchObject({
    code: 0,
  })
  expect(execFileSync('tar', ['-tf', copy]).toString()).toBe('note.md\n')
  expect(await run('export', ...ids, '--git', history, '--store', store)).toMatchObject({ code: 0 })
  expect(await run('verify', '--store', store)).toMatchObject({ err: '2 snapshots, 0 damaged\n' })
  await using opened = await open(store)
  for (const id of ids) await opened.store.deleteManifest('line', id)
  expect(await run('gc', '--grace', '1h', '--store', store)).toMatchObject({
    err: 'freed 0 blocks, 0 B; kept 1\n',
  })
  const swept = await opened.store.sweep('line', { graceMs: 0 })
  expect(swept).toMatchObject({ deletedBlocks: 1, keptBlocks: 0 })
  return ids
}

async function open(store: string) {
  const { env, fetch } = host
  const opened = await openSnapshots(store, { canCreate: false, env, fetch })
  return { store: opened.store, [Symbol.asyncDispose]: async () => opened.close() }
}

describe('in PostgreSQL', SLOW, () => {
  it('every command works', async () => {
    await using database = await createTestDatabase()
    expect(await workOn(database.url)).toHaveLength(2)
  })

  it('none but an import makes tables', async () => {
    await using database = await createTestDatabase()
    for (const args of [['list'], ['verify'], ['gc']]) {
      const ran = await run(...args, '--store', database.url)
      expect(ran).toMatchObject({ code: 3, out: '' })
      expect(ran.err).toMatch(/\(schema-version\)\n/)
    }
  })

  it('a wrong URL, no server and missing rights are said, without the password', async () => {
    const wrong = await run('list', '--store', `postgresql://user:${SECRET}@:x/none`)
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('database URL must be') })
    const nobody = await run('list', '--store', `postgresql://user:${SECRET}@127.0.0.1:1/none`)
    expect(nobody).toMatchObject({ code: 3, err: expect.stringContaining('(unavailable)') })

    await using database = await createTestDatabase()
    const url = new URL(database.url)
    url.pathname = '/no_such_database'
    const missing = await run('list', '--store', url.href)
    expect(missing).toMatchObject({ code: 3, err: expect.stringContaining('no such database') })
    const stranger = new URL(database.url)
    stranger.username = 'no_such_role'
    stranger.password = SECRET
    expect(await run('list', '--store', stranger.href)).toMatchObject({ code: 3, out: '' })
  })
})

describe('in a bucket', SLOW, () => {
  it('every command works', async () => {
    const { options } = await startBucket()
    host.env = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }
    host.fetch = options.fetch ?? fetch
    const { origin } = new URL(options.bucketUrl)
    const store = `s3://files?endpoint=${origin}&region=us-east-1&prefix=team/`
    expect(await workOn(store)).toHaveLength(2)
  })

  it('a wrong key, a wrong bucket and no server are said, without the key', async () => {
    const { options } = await startBucket()
    host.fetch = fetch
    const { origin } = new URL(options.bucketUrl)
    host.env = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: SECRET }
    const denied = await run('list', '--store', `s3://files?endpoint=${origin}&region=us-east-1`)
    expect(denied).toMatchObject({ code: 3, err: expect.stringContaining('403') })
    host.env = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }
    const none = await run('list', '--store', `s3://none?endpoint=${origin}&region=us-east-1`)
    expect(none).toMatchObject({ code: 3, err: expect.stringContaining('(unavailable)') })
    host.fetch = () => Promise.reject(new TypeError('fetch failed'))
    const away = await run('list', '--store', `s3://files?endpoint=${origin}`)
    expect(away).toMatchObject({ code: 3, err: expect.stringContaining('does not answer') })
  })

  it('is at Amazon without an endpoint, or where the environment says', async () => {
    const asked: string[] = []
    host.fetch = async (input) => {
      asked.push(new URL(new Request(input).url).href.split('?')[0] ?? '')
      return new Response('<ListBucketResult></ListBucketResult>')
    }
    const key = {
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_SESSION_TOKEN: SECRET,
    }
    host.env = { ...key, AWS_REGION: 'eu-central-1' }
    expect(await run('list', '--store', 's3://files')).toMatchObject({ code: 0 })
    host.env = { ...key, AWS_ENDPOINT_URL_S3: 'https://s3.example.org/' }
    expect(await run('list', '--store', 's3://files')).toMatchObject({ code: 0 })
    host.env = { ...key, AWS_ENDPOINT_URL: 'https://all.example.org', AWS_DEFAULT_REGION: 'r' }
    expect(await run('list', '--store', 's3://files')).toMatchObject({ code: 0 })
    expect([...new Set(asked)]).toEqual([
      'https://s3.eu-central-1.amazonaws.com/files',
      'https://s3.example.org/files',
      'https://all.example.org/files',
    ])
  })
})

it.each([
  ['ftp://host/x', 'a store is a directory'],
  [`s3://id:${SECRET}@files?region=r`, 'without credentials'],
  ['s3://files/path?region=r', 'a bucket is s3://bucket'],
  ['s3://files?region=r&secret=x', 'no parameter secret'],
  ['s3://', 'a bucket is s3://bucket'],
  ['s3://files', 'needs an endpoint'],
  ['s3://files?endpoint=nowhere', 'bucketUrl must be'],
  ['s3://files?region=r&prefix=no-slash', 'prefix must be'],
])('%s is no store', async (store, problem) => {
  host.env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: SECRET }
  const { code, err } = await run('list', '--store', store)
  expect([code, err]).toEqual([2, expect.stringContaining(problem)])
})

it('a bucket needs a key in the environment', async () => {
  const { code, err } = await run('list', '--store', 's3://files?region=r')
  expect([code, err]).toEqual([2, expect.stringContaining('AWS_ACCESS_KEY_ID')])
})
