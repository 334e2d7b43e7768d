import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, startTestPostgres, type TestPostgres } from '../src/index.ts'
import { query } from './query.ts'

describe('a server of its own', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await startTestPostgres({ settings: { work_mem: '5MB' } })
  })
  afterAll(() => server.remove())

  test('what is committed outlives a crash and a restart; connections do not', async () => {
    await using database = await server.createDatabase()
    await query(database.url, 'CREATE TABLE kept AS SELECT 1 AS one')
    await server.restart('immediate')
    expect(await query(database.url, 'TABLE kept')).toEqual([{ one: 1 }])
    await server.restart()
    expect(await query(database.url, 'TABLE kept')).toEqual([{ one: 1 }])
    await server.stop('immediate')
    await expect(query(database.url, 'TABLE kept')).rejects.toMatchObject({ code: 'ENOENT' })
    await server.start()
    await server.start()
    expect(await query(database.url, 'TABLE kept')).toEqual([{ one: 1 }])
  })

  test('databases are empty, separate, and do not sort by bytes', async () => {
    await using one = await server.createDatabase()
    await using two = await server.createDatabase()
    await query(one.url, 'CREATE TABLE t ()')
    await query(two.url, 'CREATE TABLE t ()')
    const sorted = await query(one.url, "SELECT x FROM (VALUES ('B'), ('a')) AS v (x) ORDER BY x")
    expect(sorted).toEqual([{ x: 'a' }, { x: 'B' }])
  })

  test('settings apply; nothing waits for the disk; no network', async () => {
    const settings = ['work_mem', 'fsync', 'listen_addresses']
    const shown = await Promise.all(settings.map((name) => query(server.url(), `SHOW ${name}`)))
    expect(shown.flat()).toEqual([{ work_mem: '5MB' }, { fsync: 'off' }, { listen_addresses: '' }])
  })

  test.runIf(process.getuid?.() === 0)('a root process runs it as another user', () => {
    const pid = readFileSync(join(server.directory, 'data/postmaster.pid'), 'utf8').split('\n')[0]
    expect(statSync(`/proc/${pid}`).uid).not.toBe(0)
  })
})

test('data that were made once are copied: each server has its own', async () => {
  const servers = await Promise.all([1, 2, 3].map(() => startTestPostgres()))
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.remove()))))
  for (const [index, server] of servers.entries()) {
    await query(server.url(), `CREATE TABLE own AS SELECT ${index} AS index`)
  }
  const rows = await Promise.all(servers.map((server) => query(server.url(), 'TABLE own')))
  expect(rows).toEqual([[{ index: 0 }], [{ index: 1 }], [{ index: 2 }]])
  expect(statSync(join(servers[0]?.directory ?? '', 'data')).mode & 0o777).toBe(0o700)
  const cache = join(import.meta.dirname, '../../../node_modules/.cache/helix-postgres-testbed')
  expect(readdirSync(cache).filter((name) => !name.includes('.'))).not.toEqual([])
})

test('a durable server waits for the disk; its folder goes with it', async () => {
  const server = await startTestPostgres({ durable: true })
  expect(await query(server.url(), 'SHOW fsync')).toEqual([{ fsync: 'on' }])
  expect(await query(server.url(), 'SHOW synchronous_commit')).toEqual([
    { synchronous_commit: 'on' },
  ])
  await server.remove()
  expect(existsSync(server.directory)).toBe(false)
})

test('what cannot start says why, and leaves nothing', async () => {
  const unknown = startTestPostgres({ settings: { no_such_setting: '1' } })
  await expect(unknown).rejects.toMatchObject({
    code: 'start-failed',
    message: expect.stringContaining('no_such_setting') as unknown,
  })
  const empty = startTestPostgres({ binaries: import.meta.dirname })
  await expect(empty).rejects.toMatchObject({ code: 'initialization-failed' })
})

test('DATABASE_URL names another server', async () => {
  await using server = await startTestPostgres()
  const before = process.env.DATABASE_URL
  process.env.DATABASE_URL = server.url()
  try {
    await using database = await createTestDatabase()
    expect(new URL(database.url).hostname).toBe(encodeURIComponent(server.directory))
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  } finally {
    if (before === undefined) delete process.env.DATABASE_URL
    else process.env.DATABASE_URL = before
  }
})

// Another major version, where the system has one.
test.each(globSync('/usr/lib/postgresql/*/bin/initdb').map(dirname))(
  'runs %s',
  async (binaries) => {
    await using server = await startTestPostgres({ binaries })
    const version = binaries.split('/')[4]
    const [row] = await query(server.url(), 'SHOW server_version')
    expect(row).toEqual({
      server_version: expect.stringMatching(new RegExp(`^${version}\\.`)) as unknown,
    })
  },
)
