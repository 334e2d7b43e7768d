// The runbooks, walked with nothing but the page: their commands in a shell, against what is started here.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { createFleetApp, Fleet, type FleetStore } from '@helix-agents/sandbox-fleet'
import { openSqliteFleetStore } from '@helix-agents/sandbox-fleet/node'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { serve, type ServerType } from '@hono/node-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runShell } from './child-process.ts'
import { SampleDriver, TOKEN } from './commands/fleet/sample-fleet.ts'
import { addSession, REF } from './commands/sessions/sample-sessions.ts'
import { commandsOf, fencesOf, inlineCommandsOf } from './runbook-page.ts'
import { type ServedHelix, serveHelix } from './served-helix.ts'

const SLOW = { timeout: 120_000 }
const MINUTE_MS = 60_000
const SESSION = 'rolled-back'
const missing = ['curl', 'jq'].filter((name) => spawnSync(name, ['--version']).status !== 0)
const skipNote = missing.length === 0 ? '' : ` (skipped: no ${missing.join(', ')})`

let folder: string
let driver: SampleDriver
let clock: ManualClock
let fleet: Fleet
let store: FleetStore
let closeStore: () => Promise<void>
let server: ServerType
let health: Server
let setUp: string
let helix: ServedHelix

/** One line of a page, as somebody types it who has read nothing else. */
async function type(line: string) {
  const { port } = health.address() as AddressInfo
  const typed = line
    .replaceAll('http://localhost:8787', `http://127.0.0.1:${port}`)
    .replaceAll('<id>', SESSION)
    .replaceAll('<url>', `http://127.0.0.1:${port}/healthz/${SESSION}`)
  return runShell(`${setUp}\n${typed}`, folder)
}

async function addSandbox(id: string): Promise<void> {
  const lease = await fleet.admission.open({ id, provider: 'sample' }, async () => {
    driver.present.add(id)
  })
  await lease.release()
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'helix-walk-'))
  mkdirSync(join(folder, 'data'))
  mkdirSync(join(folder, 'tmp'))
  helix = await serveHelix(folder)
  const stores = await openSqliteStores(join(folder, 'data/helix.db'))
  // A release two versions ahead wrote its ref; this one cannot read it, and the run went on.
  const failed = { role: 'tool', toolCallId: 'c', toolName: 'workspace__box__ls' } as const
  const content = 'Error [ref-version]: the stored ref has schemaVersion 3'
  const messages = [{ ...failed, content, isError: true }]
  const future = { sessionId: SESSION, status: 'completed', messages } as const
  await addSession(stores.stateStore, { ...future, refs: { box: { ...REF, schemaVersion: 3 } } })
  await addSession(stores.stateStore, {
    sessionId: 'fine',
    status: 'completed',
    workspaces: ['box'],
  })
  await stores.close()
  health = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ workspaces: [] }))
  }).listen(0, '127.0.0.1')
  await once(health, 'listening')
})
afterAll(() => {
  health.close()
  helix.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  rmSync(join(folder, 'fleet.db'), { force: true })
  const opened = await openSqliteFleetStore(join(folder, 'fleet.db'))
  ;({ store } = opened)
  closeStore = async () => opened.close()
  clock = new ManualClock(Date.now())
  driver = new SampleDriver()
  fleet = new Fleet({ store, drivers: [driver], environment: 'production', clock })
  const app = createFleetApp({ fleet, adminToken: TOKEN, clock })
  server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const [fence = ''] = fencesOf('fleet-runbook.md')
  const here = `unset -f helix; export PATH='${helix.bin}':"$PATH" TMPDIR='${join(folder, 'tmp')}' HELIX_DB='${join(folder, 'data/helix.db')}' NO_COLOR=1`
  const address = fence.replace('https://fleet.example.com', `http://127.0.0.1:${port}`)
  setUp = `${here}\n${address.replace('…', TOKEN)}`
  return async () => {
    server.close()
    await closeStore()
  }
})

describe.skipIf(missing.length > 0)(`a blind walk${skipNote}`, SLOW, () => {
  it('cleanup does not run', async () => {
    await addSandbox('sandbox_123')
    await clock.advance(16 * MINUTE_MS)
    const [look = '', ...fix] = commandsOf('fleet-runbook.md', 'Cleanup does not run')
    const before = await type(look)
    expect([before.code, before.err]).toEqual([1, ''])
    expect(before.out).toMatch(/last cleanup +never\nalert: sandbox_cleanup_not_running\n/)
    for (const line of fix) expect([line, (await type(line)).code]).toEqual([line, 0])
    expect([...driver.present]).toEqual([])
    const after = await type(look)
    expect([after.code, after.out]).toEqual([0, expect.stringMatching(/last cleanup +\d+ms ago/)])
  })

  it('refs after a rollback', async () => {
    const [first = '', byVersion = '', show = ''] = commandsOf(
      'operating.md',
      'Refs and backends disagree',
    )
    for (const line of [first, byVersion]) {
      const { code, err, out } = await type(line)
      expect([code, err]).toEqual([0, ''])
      expect([out.includes(SESSION), out.includes('fine')]).toEqual([true, false])
    }
    expect((await type(first)).out).toContain('box: ref-version')
    expect((await type(show)).out).toMatch(/^box +local-bash +3 /m)
  })

  it('a destroy is owed', async () => {
    await addSandbox('sandbox_123')
    driver.onTerminate = () => {
      throw new Error('the platform says: quota exceeded', { cause: new Error('HTTP 503') })
    }
    await fleet.terminate('sandbox_123')
    await clock.advance(MINUTE_MS)
    const [list = '', show = '', clean = ''] = commandsOf('fleet-runbook.md', 'A destroy is owed')
    expect((await type(list)).out).toContain('destroy-owed')
    expect((await type(show)).out).toContain('the platform says: quota exceeded <- Error: HTTP 503')
    expect((await type(clean)).code).toBe(1)
    driver.onTerminate = () => undefined
    await clock.advance(5 * MINUTE_MS)
    expect((await type(clean)).code).toBe(0)
    expect((await fleet.get('sandbox_123')).status).toBe('terminated')
    expect((await type(list)).err).toBe('no sandboxes\n')
  })
})

/** Several commands in one, or one that does not end; they are run in another form. */
const NOT_ALONE = /\|list\||--watch|wrangler|^for |^done|^mkdir|^export|^fleet\(|\$id/

describe.skipIf(missing.length > 0)(`every command${skipNote}`, SLOW, () => {
  // The fences of the runbook of the fleet are run by `fleet-runbook.test.ts`.
  const pages = ['operating.md', 'health.md']
  const all = [
    ...pages.flatMap((name) => [...commandsOf(name), ...inlineCommandsOf(name)]),
    ...inlineCommandsOf('fleet-runbook.md'),
  ]
  const lines = [...new Set(all)].filter(
    (line) => !NOT_ALONE.test(line) && /^(helix|fleet) /.test(line),
  )

  it('there are some', () => expect(lines.length).toBeGreaterThan(12))
  it('is understood, and answers', async () => {
    for (const line of lines) {
      if (!driver.present.has('sandbox_123')) await addSandbox('sandbox_123')
      const { code, err } = await type(line)
      expect([line, [0, 1].includes(code ?? -1), err]).toEqual([line, true, err])
    }
  })
})
