import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createFleetApp, Fleet } from '@helix-agents/sandbox-fleet'
import { openSqliteFleetStore } from '@helix-agents/sandbox-fleet/node'
import { openPostgresFleetStore } from '@helix-agents/sandbox-fleet/postgres'
import { createTestDatabase } from '@helix-agents/postgres-testbed'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, runHelix, runShell, startHelix } from './child-process.ts'
import { addSession } from './commands/sessions/sample-sessions.ts'
import { type ServedHelix, serveHelix } from './served-helix.ts'

/** Most tests start processes; further commands of one run in one process. */
const SLOW = { timeout: 120_000 }
const MANY = 2000
let folder: string
let database: string
let helix: ServedHelix

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'helix-cli-'))
  database = join(folder, 'sessions.db')
  helix = await serveHelix(folder)
  const stores = await openSqliteStores(database)
  const { stateStore } = stores
  await addSession(stateStore, { sessionId: 'paused', status: 'interrupted', workspaces: ['box'] })
  for (let i = 0; i < MANY; i += 1) await addSession(stateStore, { sessionId: `s-${i}` })
  await stores.close()
})
afterAll(() => {
  helix.close()
  rmSync(folder, { recursive: true, force: true })
})

function workspace(state: string, stateSince: number) {
  const counts = { evictions: 0, retries: 0, capabilities: {} }
  return { name: 'box', providerId: 'local-bash', state, stateSince, ...counts }
}

describe('the helix program', SLOW, () => {
  it('answers with exit codes, data on stdout and remarks on stderr', async () => {
    expect(await runHelix('--version')).toMatchObject({ code: 0, err: '' })
    expect(await runHelix('nonsense')).toMatchObject({ code: 2, out: '' })
    expect(await runHelix('reap', '--root', folder, '--dry-run')).toMatchObject({
      code: 0,
      out: '',
      err: '0 would be removed, 0 kept, 0 failed\n',
    })
  })
  it('reads a database and leaves it as it is', async () => {
    const before = readFileSync(database)
    const list = await runHelix('sessions', 'list', '--db', database, '--status', 'interrupted')
    expect(list).toMatchObject({ code: 0, err: '' })
    expect(list.out.split('\n')[1]).toMatch(/^paused +tester +interrupted/)
    const show = await helix.run('sessions', 'show', 'paused', '--db', database, '--checkpoints')
    expect(show).toMatchObject({ code: 0, err: '' })
    expect(await helix.run('sessions', 'show', 'nobody', '--db', database)).toMatchObject({
      code: 3,
    })
    expect(readFileSync(database).equals(before)).toBe(true)
  })
  it('never makes a database', async () => {
    const missing = join(folder, 'missing', 'sessions.db')
    const { code, out, err } = await helix.run('sessions', 'list', '--db', missing)
    expect([code, out, err.includes(missing)]).toEqual([3, '', true])
    expect(existsSync(join(folder, 'missing'))).toBe(false)
    expect(await helix.run('sessions', 'list', '--db', folder)).toMatchObject({ code: 3 })
  })
  it('shows damaged sessions with the others, and ends with 1', async () => {
    const damaged = join(folder, 'damaged.db')
    copyFileSync(database, damaged)
    const sql = new DatabaseSync(damaged)
    sql.exec("UPDATE helix_sessions SET error = '{torn' WHERE session_id = 's-1'")
    sql.close()
    const all = ['--db', damaged, '--limit', String(MANY + 1)]
    const { code, out } = await helix.run('sessions', 'list', ...all)
    const lines = out.split('\n').filter((line) => /^s-[012] /.test(line))
    expect([code, lines.length]).toEqual([1, 3])
    expect(lines.at(-1)).toMatch(/^s-1 +\? +corrupt/)
    expect(await helix.run('sessions', 'show', 's-1', '--db', damaged)).toMatchObject({ code: 1 })
    expect(await helix.run('sessions', 'show', 's-2', '--db', damaged)).toMatchObject({ code: 0 })
  })
  it('tells a file that is no database', async () => {
    const file = join(folder, 'text.db')
    writeFileSync(file, 'not a database, but long enough to be looked at\n'.repeat(100))
    expect(await helix.run('sessions', 'list', '--db', file)).toMatchObject({ code: 1, out: '' })
  })
})

describe('a reader that goes away', SLOW, () => {
  it.each(['head -1', 'true'])('is no error: | %s', async (reader) => {
    const list = `helix sessions list --db sessions.db --limit ${MANY}`
    const { code, err } = await runShell(`${list} | ${reader}`, folder)
    expect([code, err.replace(/^there are more.*\n/, '')]).toEqual([0, ''])
  })
  it('does not change what the command found', async () => {
    const { code, err } = await runShell(
      'helix sessions show nobody --db sessions.db | true',
      folder,
    )
    expect([code, err === '']).toEqual([3, false])
  })
  it('is not taken for a full disk, which is one', async () => {
    const { code, err } = await runShell('helix sessions list --db sessions.db > /dev/full', folder)
    expect([code, err.includes('ENOSPC')]).toEqual([70, true])
  })
})

describe('helix healthz', SLOW, () => {
  let server: Server
  let url: string
  let respond: RequestListener
  beforeAll(async () => {
    server = createServer((request, response) => respond(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz/s-1`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it('asks a real server', async () => {
    respond = (_, response) =>
      response.end(JSON.stringify({ workspaces: [workspace('open', Date.now())] }))
    expect(await runHelix('healthz', url)).toMatchObject({ code: 0, err: '' })
    respond = (_, response) =>
      response.end(JSON.stringify({ workspaces: [workspace('failed', Date.now() - 600_000)] }))
    expect(await helix.run('healthz', url)).toMatchObject({ code: 1, err: '' })
    respond = (_, response) => response.writeHead(404).end('{}')
    expect(await helix.run('healthz', url)).toMatchObject({ code: 3, out: '' })
    respond = () => undefined
    expect(await helix.run('healthz', url, '--timeout', '200ms')).toMatchObject({
      code: 3,
      out: '',
    })
  })
  it('tells a server that is not there', async () => {
    expect(await helix.run('healthz', 'http://127.0.0.1:9/healthz/s-1')).toMatchObject({ code: 3 })
  })
  it.each(['SIGINT', 'SIGTERM'] as const)('watches until %s', async (signal) => {
    respond = (_, response) => response.end('{"workspaces":[]}')
    const child = startHelix(['healthz', url, '--watch', '3600', '--json'])
    const line = await new Promise<Buffer>((resolve) => child.stdout.once('data', resolve))
    expect(JSON.parse(line.toString())).toMatchObject({ sessionId: 's-1', healthy: true })
    child.kill(signal)
    expect(await ended(child)).toEqual({ code: null, signal })
  })
  it('watches until its reader goes away', async () => {
    respond = (_, response) => response.end('{"workspaces":[]}')
    const { code, out } = await runShell(`helix healthz ${url} --watch 1 --json | head -1`, folder)
    expect([code, out.split('\n').length]).toEqual([0, 2])
  })
})

describe('helix fleet', SLOW, () => {
  it('reads a ledger that is in use and leaves it as it is', async () => {
    const file = join(folder, 'fleet.db')
    const { store, close } = await openSqliteFleetStore(file)
    const fleet = new Fleet({ store, drivers: [], environment: 'test' })
    const reporter = fleet.reporter()
    reporter.opened({ id: 'sb-1', provider: 'local-bash', agentType: 'tester' })
    await reporter.flush()
    expect(await helix.run('fleet', 'stats', '--db', file)).toMatchObject({ code: 0, err: '' })
    const list = await runHelix('fleet', 'list', '--db', file)
    expect([list.code, list.err]).toEqual([0, ''])
    expect(list.out.split('\n')[1]).toMatch(/^sb-1 +running +\w+ +\w+ +tester/)
    expect(await helix.run('fleet', 'show', 'sb-2', '--db', file)).toMatchObject({ code: 3 })
    await reporter.stop()
    await close()
  })
  it('reads a ledger in PostgreSQL, and makes none', async () => {
    await using place = await createTestDatabase()
    const before = await helix.run('fleet', 'stats', '--db', place.url)
    expect(before).toMatchObject({ code: 3, out: '' })
    expect(before.err).toMatch(/\(schema-version\)\n/)
    const { store, close } = await openPostgresFleetStore(place.url)
    const fleet = new Fleet({ store, drivers: [], environment: 'test' })
    const reporter = fleet.reporter()
    reporter.opened({ id: 'sb-1', provider: 'local-bash', agentType: 'tester' })
    await reporter.flush()
    const list = await runHelix('fleet', 'list', '--db', place.url)
    expect([list.code, list.err]).toEqual([0, ''])
    expect(list.out.split('\n')[1]).toMatch(/^sb-1 +running +\w+ +\w+ +tester/)
    await reporter.stop()
    await close()
  })
  it('never makes a ledger, and tells a file that is none', async () => {
    const missing = join(folder, 'no-fleet.db')
    expect(await helix.run('fleet', 'stats', '--db', missing)).toMatchObject({ code: 3, out: '' })
    expect(existsSync(missing)).toBe(false)
    // A database of sessions.
    const other = await helix.run('fleet', 'stats', '--db', database)
    expect(other).toMatchObject({ code: 3, out: '' })
    expect(other.err).toMatch(/\(schema-version\)\n/)
    const file = join(folder, 'no-database.db')
    writeFileSync(file, 'not a database, but long enough to be looked at\n'.repeat(100))
    const torn = await helix.run('fleet', 'stats', '--db', file)
    expect(torn).toMatchObject({ code: 1, out: '' })
    expect(torn.err).toMatch(/\(corrupt\)\n/)
  })
  it('talks to a server, with a token from a file or from stdin', async () => {
    const token = 'a-token-of-the-operator'
    const { store, close } = await openSqliteFleetStore(':memory:')
    const fleet = new Fleet({ store, drivers: [], environment: 'test' })
    const server = serve({
      fetch: createFleetApp({ fleet, adminToken: token }).fetch,
      overrideGlobalObjects: false,
      hostname: '127.0.0.1',
      port: 0,
    })
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const file = join(folder, 'token')
    writeFileSync(file, `${token}\n`)
    const args = ['--url', url, '--token-file', file]
    expect(await helix.run('fleet', 'stats', ...args)).toMatchObject({ code: 0, err: '' })
    expect(await runHelix('fleet', 'cleanup', ...args)).toMatchObject({ code: 0, out: '' })
    expect(await helix.run('fleet', 'emergency', ...args)).toMatchObject({ code: 2, out: '' })
    const piped = `helix fleet stats --url ${url} --token-file - < token`
    expect(await runShell(piped, folder)).toMatchObject({ code: 0, err: '' })
    expect(await helix.run('fleet', 'stats', '--url', url)).toMatchObject({ code: 3, out: '' })
    server.close()
    await close()
  })
})
