// Bad input: each is a clear typed error, and nothing is half-made.
import { openPostgresStores, type PostgresStoresOptions } from '@helix-agents/store-postgres'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { emptyPlace, opened, query } from './opened.ts'
import { begun, NOW, textsOf } from './script.ts'

const failure = (url: string, options?: PostgresStoresOptions): Promise<unknown> =>
  openPostgresStores(url, options).then(
    () => 'opened',
    (error: unknown) => error,
  )

const tablesIn = (url: string): Promise<readonly unknown[]> =>
  query(url, 'SELECT tablename FROM pg_tables WHERE schemaname = current_schema()')

test('what is no URL is a mistake of the program', async () => {
  for (const url of ['', 'sessions.db', 'mysql://localhost/x', undefined as never, null as never]) {
    await expect(openPostgresStores(url)).rejects.toThrow(TypeError)
  }
  const secret = await failure('mysql://me:secret@localhost/x')
  expect(String(secret)).not.toContain('secret')
})

test.each([
  { maxConnections: 0 },
  { statementTimeoutMs: Number.NaN },
  { pollMs: 1.5 },
  { leaseClock: 'mine' as never },
  { streams: { maxBufferedChunks: 0 } },
])('the option %j cannot be used', async (options) => {
  await expect(openPostgresStores('postgresql://localhost/x', options)).rejects.toThrow(RangeError)
})

test('a server that is not there, a database and a user that are not', async () => {
  const url = await emptyPlace()
  const place = new URL(url)
  place.pathname = '/nowhere'
  const noDatabase = place.href
  place.username = 'stranger'
  const wrong = [
    ['postgresql://me:secret@127.0.0.1:1/x', 'cannot be reached'],
    ['postgresql://me:secret@nowhere.invalid/x', 'cannot be reached'],
    [noDatabase, 'there is no such database'],
    [place.href, 'does not let this user in'],
  ] as const
  for (const [address, detail] of wrong) {
    const error = await failure(address)
    expect(error).toMatchObject({ name: 'StateStoreError', code: 'unavailable' })
    expect(String(error)).toContain(detail)
    expect(String(error)).not.toContain('secret')
  }
})

test('a server that never answers is given up when its time is over', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  const url = `postgresql://127.0.0.1:${port}/x`
  const options = { connectTimeoutMs: 50, reconnectTimeoutMs: 1 }
  expect(await failure(url, options)).toMatchObject({ code: 'unavailable' })
})

test('a server without TLS is rejected when TLS is wanted', async () => {
  const url = await emptyPlace()
  const error = await failure(url, { tls: { rejectUnauthorized: true }, reconnectTimeoutMs: 1 })
  expect(error).toMatchObject({ code: 'unavailable' })
  expect(await tablesIn(url)).toEqual([])
})

test('a user without rights makes nothing, and may use what is there', async () => {
  const url = await emptyPlace()
  const role = `reader_${NOW}_${process.pid}`
  await query(url, `CREATE ROLE ${role} LOGIN`)
  const place = new URL(url)
  place.username = role
  const restricted = place.href.replaceAll('+', '%20')
  try {
    const name = /search_path%3D(\w+)/.exec(restricted)?.[1]
    await query(url, `GRANT USAGE ON SCHEMA ${name} TO ${role}`)
    expect(await failure(restricted)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('may not make or use the tables'),
    })
    expect(await tablesIn(url)).toEqual([])
    await opened(url)
    expect(await failure(restricted)).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('may not make or use the tables'),
    })
    await query(url, `GRANT SELECT ON ALL TABLES IN SCHEMA ${name} TO ${role}`)
    const reader = await opened(restricted)
    expect(await reader.stateStore.listSessions()).toMatchObject({ items: [] })
    await expect(begun(reader.stateStore, 's')).rejects.toMatchObject({ code: 'unavailable' })
    const started = reader.streamManager.startRun('s', 'run', 'agent')
    await expect(started).rejects.toMatchObject({ code: 'unavailable' })
    const rights = 'SELECT, INSERT, UPDATE, DELETE'
    await query(url, `GRANT ${rights} ON ALL TABLES IN SCHEMA ${name} TO ${role}`)
    const { stateStore } = await opened(restricted)
    await begun(stateStore, 's')
  } finally {
    await query(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`)
  }
})

test('tables of a newer release, of an older one that is only checked, and of another program', async () => {
  const newer = await emptyPlace()
  await opened(newer)
  await query(newer, 'INSERT INTO helix_schema (version, applied_at) VALUES (99, 0)')
  expect(await failure(newer)).toMatchObject({
    code: 'schema-version',
    message: expect.stringContaining('the database has schema version 99'),
  })

  const older = await emptyPlace()
  await opened(older)
  await query(older, 'DELETE FROM helix_schema WHERE version > 1')
  expect(await failure(older, { checkOnly: true })).toMatchObject({ code: 'schema-version' })
  expect(await failure(await emptyPlace(), { checkOnly: true })).toMatchObject({
    code: 'schema-version',
  })

  const foreign = await emptyPlace()
  await query(foreign, 'CREATE TABLE helix_labels (text text)')
  expect(await failure(foreign)).toMatchObject({
    code: 'schema-version',
    message: expect.stringContaining('another program'),
  })
  expect(await tablesIn(foreign)).toEqual([{ tablename: 'helix_labels' }])
  const other = await emptyPlace()
  await query(other, 'CREATE TABLE helix_schema (text text)')
  expect(await failure(other)).toMatchObject({ code: 'schema-version' })
})

test('processes that start together migrate once', async () => {
  const url = await emptyPlace()
  await Promise.all(Array.from({ length: 8 }, () => opened(url)))
  const rows = await query(url, 'SELECT version::int FROM helix_schema ORDER BY version')
  expect(rows).toEqual([{ version: 1 }, { version: 2 }, { version: 3 }])
})

test('the clock of the server decides leases', async () => {
  const url = await emptyPlace()
  const { stateStore } = await opened(url)
  const sessionId = 's'
  await stateStore.createSession({ sessionId, agentType: 'a', customState: 1, now: NOW })
  await stateStore.beginRun({ sessionId, runId: 'first', leaseMs: 60_000, now: Date.now() })
  const fiveMinutes = 5 * 60_000
  for (const now of [Date.now() + fiveMinutes, Date.now() - fiveMinutes, 0]) {
    const thief = stateStore.beginRun({ sessionId, runId: 'thief', leaseMs: 1, now })
    await expect(thief).rejects.toMatchObject({ name: 'AgentAlreadyRunningError' })
  }
  const first = { sessionId, runId: 'first', now: Date.now() - fiveMinutes }
  await stateStore.renewRun({ ...first, leaseMs: 1 })
  await query(url, 'SELECT pg_sleep(0.01)')
  await stateStore.beginRun({ sessionId, runId: 'next', leaseMs: 60_000, now: 0 })
  await expect(stateStore.appendMessages({ ...first, messages: [] })).rejects.toMatchObject({
    code: 'conflict',
  })
})

test('hostile ids and labels are stored exactly or rejected whole', async () => {
  const url = await emptyPlace()
  const { stateStore, streamManager } = await opened(url)
  const ids = [
    "'; DROP TABLE helix_sessions; --",
    '\0',
    'a\0b',
    '\uD800',
    '?',
    '$1',
    '~1:2',
    '"',
    'é',
  ]
  for (const sessionId of ids) {
    const metadata = { large: 'x'.repeat(1024 * 1024), [sessionId]: '\0\uD800' }
    const names = { sessionId, agentType: sessionId, userId: sessionId, tags: [sessionId] }
    const session = { ...names, metadata, customState: sessionId, now: NOW }
    await stateStore.createSession(session)
    const { now: _, ...stored } = session
    expect(await stateStore.loadSession(sessionId)).toMatchObject(stored)
    const messages = [{ role: 'user', content: sessionId }] as const
    const run = { sessionId, runId: sessionId, now: NOW }
    await stateStore.beginRun({ ...run, leaseMs: 3_600_000 })
    await stateStore.commitStep({ ...run, messages, checkpointId: sessionId })
    expect(await textsOf(stateStore, sessionId)).toEqual([sessionId])
    const chunk = { type: 'text_delta', delta: sessionId, agentId: sessionId } as const
    const writer = await streamManager.startRun(sessionId, sessionId, sessionId)
    await writer.write({ ...chunk, agentType: sessionId, timestamp: NOW })
    const reader = (await streamManager.read(sessionId))?.[Symbol.asyncIterator]()
    expect((await reader?.next())?.value).toMatchObject(chunk)
    await reader?.return?.()
  }
  expect((await stateStore.listSessions()).items).toHaveLength(ids.length)
  // A key of an index takes fewer bytes than some ids have.
  const longest = Array.from({ length: 1024 }, (_, at) => String.fromCodePoint(0x4e00 + at * 17))
  const long = { sessionId: longest.join(''), agentType: 'a', customState: 1, now: NOW }
  await expect(stateStore.createSession(long)).rejects.toMatchObject({ code: 'not-storable' })
  expect((await stateStore.listSessions()).items).toHaveLength(ids.length)
})

test('what is called after the end is unavailable', async () => {
  const { stateStore, close } = await opened(await emptyPlace())
  await Promise.all([close(), close()])
  await expect(stateStore.loadSession('s')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('closed'),
  })
})
