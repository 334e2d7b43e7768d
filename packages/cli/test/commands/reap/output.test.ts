// All that is printed of what is removed, for people and for programs: without other processes.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { section } from '../../printed.ts'
import { TestHost } from '../../test-host.ts'

let root: string
let host: TestHost
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'helix-cli-'))
  host = new TestHost()
  mkdirSync(join(root, 'helix-ws-unfinished'))
  mkdirSync(join(root, 'helix-ws-somebody'))
  writeFileSync(join(root, 'helix-ws-somebody', 'file'), '')
  await host.clock.advance(Date.now() - host.clock.now())
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const DAY_MS = 86_400_000
const WAITING = 'helix-ws-unfinished  kept    not unused for long enough'

async function reaped(...args: readonly string[]): Promise<string> {
  const ran = await host.run(['reap', '--root', root, ...args], { isTTY: true, columns: 100 })
  return section('reap', ran)
}

it('what is young is kept', async () => {
  await host.clock.advance(DAY_MS - 60_000)
  const text = await reaped()
  expect(text.split('\n').slice(2)).toEqual([
    WAITING,
    'helix-ws-somebody    kept    not a workspace of this user',
    '--- stderr',
    '0 removed, 2 kept, 0 failed',
    '',
  ])
  expect(readdirSync(root)).toHaveLength(2)
})

it('what is old would be removed, and is', async () => {
  await host.clock.advance(DAY_MS + 60_000)
  expect((await reaped('--dry-run')).split('\n').slice(2)).toEqual([
    'helix-ws-unfinished  <green>would remove</>  its process is dead',
    'helix-ws-somebody    kept          not a workspace of this user',
    '--- stderr',
    '1 would be removed, 1 kept, 0 failed',
    '',
  ])
  expect(readdirSync(root)).toHaveLength(2)
  expect((await reaped()).split('\n').slice(2, 5)).toEqual([
    'helix-ws-unfinished  <green>removed</>  its process is dead',
    'helix-ws-somebody    kept     not a workspace of this user',
    '--- stderr',
  ])
  expect(readdirSync(root)).toEqual(['helix-ws-somebody'])
})

it('a longer time goes before the time of its kind', async () => {
  await host.clock.advance(2 * DAY_MS)
  expect(await reaped('--older-than', '3d')).toContain(WAITING)
  expect(await reaped('--older-than', '1h')).toContain('1 removed, 1 kept, 0 failed')
})

it('programs get names', async () => {
  await host.clock.advance(2 * DAY_MS)
  const json = ['reap', '--root', root]
  const report = {
    live: [],
    waiting: [],
    foreign: ['helix-ws-somebody'],
    snapshots: [],
    failed: [],
  }
  const removed = ['helix-ws-unfinished']
  expect(await host.json([...json, '--dry-run'])).toEqual({ dryRun: true, removed, ...report })
  expect(await host.json(json)).toEqual({ dryRun: false, removed, ...report })
  expect(await host.json(json)).toEqual({ dryRun: false, removed: [], ...report })
})

it('a root that is not there is said', async () => {
  const missing = join(root, 'no')
  const { code, err } = await host.run(['reap', '--root', missing])
  expect([code, err.split('\n')]).toEqual([
    0,
    [`there is no directory ${missing}`, '0 removed, 0 kept, 0 failed', ''],
  ])
})
