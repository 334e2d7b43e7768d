import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { reapLocalBashTmpdirs, type ReapOptions } from '@helix-agents/workspace-local-bash'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SESSION, TestHost } from './open-workspace.ts'

const DAY_MS = 24 * 3_600_000
let host: TestHost
beforeEach(() => {
  host = new TestHost()
})
afterEach(async () => host.dispose())

function reap(laterMs: number, options: ReapOptions = {}) {
  const clock = new ManualClock(Date.now() + laterMs)
  return reapLocalBashTmpdirs({ tmpdirRoot: host.tmpdirRoot, clock, ...options })
}

/** Opens a workspace in a process that kills itself at a given file operation. */
const CREATOR = `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const [tmpdirRoot, sessionId, method, pattern] = process.argv.slice(1)
const real = fs[method]
fs[method] = (...args) => {
  if (args.some((arg) => typeof arg === 'string' && new RegExp(pattern).test(arg))) {
    process.kill(process.pid, 'SIGKILL')
  }
  return real(...args)
}
syncBuiltinESMExports()
const { LocalBashWorkspaceProvider } = await import('@helix-agents/workspace-local-bash')
const { systemClock, noopLogger } = await import('@helix-agents/core')
const options = { workspace: 'w', capabilities: {}, signal: new AbortController().signal,
  logger: noopLogger, clock: systemClock }
await new LocalBashWorkspaceProvider({ tmpdirRoot })
  .open({ kind: 'local-bash' }, { sessionId, agentType: 'a' }, options)
`

async function crashWhileOpening(method: string, pattern: string): Promise<string> {
  const args = ['--conditions=@helix-agents/source', '--input-type=module', '-e', CREATOR]
  const values = [host.tmpdirRoot, SESSION.sessionId, method, pattern]
  const child = spawn(process.execPath, [...args, ...values], {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'inherit',
  })
  expect(await ended(child)).toBe('SIGKILL')
  return only()
}

async function ended(child: ChildProcess): Promise<NodeJS.Signals | number | null> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)))
}

function only(): string {
  const names = readdirSync(host.tmpdirRoot)
  expect(names.length).toBe(1)
  return names[0] ?? ''
}

describe('a process that died while it made a workspace', () => {
  it.each([
    ['before the marker', 'writeFileSync', 'owner\\.json', []],
    ['before the marker got its name', 'renameSync', 'owner\\.json', [/^owner\.json\.[0-9a-f]+$/]],
  ] as const)('%s leaves what is reaped after a day', async (_, method, pattern, files) => {
    const name = await crashWhileOpening(method, pattern)
    const inside = readdirSync(join(host.tmpdirRoot, name))
    expect(inside).toEqual(files.map((file) => expect.stringMatching(file)))
    expect(await reap(DAY_MS - 60_000)).toMatchObject({ removed: [], waiting: [name] })
    expect(await reap(2 * DAY_MS, { dryRun: true })).toMatchObject({ removed: [name] })
    expect(only()).toBe(name)
    expect(await reap(2 * DAY_MS)).toMatchObject({ removed: [name], failed: [] })
    expect(readdirSync(host.tmpdirRoot)).toEqual([])
  })
  it('after the marker leaves what has a dead owner', async () => {
    const name = await crashWhileOpening('mkdirSync', '/root$')
    expect(readdirSync(join(host.tmpdirRoot, name))).toContain('owner.json')
    expect(await reap(2 * 3_600_000)).toMatchObject({ removed: [name], failed: [] })
  })
  it('has its own grace period', async () => {
    const name = await crashWhileOpening('writeFileSync', 'owner\\.json')
    const options = { graceMs: 0, detachedGraceMs: 0 }
    expect(await reap(60_000, options)).toMatchObject({ waiting: [name] })
    expect(await reap(60_000, { unfinishedGraceMs: 30_000 })).toMatchObject({ removed: [name] })
  })
})

/** What an earlier release left that made the parts before the marker. */
function make(name: string): string {
  const path = join(host.tmpdirRoot, name)
  for (const part of ['', 'root', 'scratch', 'tmp']) mkdirSync(join(path, part))
  return path
}

describe('a directory without a marker', () => {
  it('is reaped with the empty parts that it has, or a marker without content', async () => {
    writeFileSync(join(make('helix-ws-parts1'), 'owner.json'), '')
    make('helix-ws-parts2.reaped')
    const { removed } = await reap(2 * DAY_MS)
    expect(removed.toSorted()).toEqual(['helix-ws-parts1', 'helix-ws-parts2.reaped'])
    expect(readdirSync(host.tmpdirRoot)).toEqual([])
  })
  it.each(['root/file', 'scratch/file', 'other', 'owner.json.draft'])(
    'is never touched when it holds %s',
    async (file) => {
      writeFileSync(join(make('helix-ws-parts1'), file), '')
      expect(await reap(365 * DAY_MS)).toMatchObject({ removed: [], foreign: ['helix-ws-parts1'] })
      expect(only()).toBe('helix-ws-parts1')
    },
  )
  it('is live while a process works in it', async () => {
    const path = make('helix-ws-parts1')
    const child = spawn('sleep', ['986'], { cwd: join(path, 'root') })
    await new Promise((resolve) => child.once('spawn', resolve))
    expect(await reap(2 * DAY_MS)).toMatchObject({ removed: [], live: ['helix-ws-parts1'] })
    child.kill('SIGKILL')
    await ended(child)
    expect(await reap(2 * DAY_MS)).toMatchObject({ removed: ['helix-ws-parts1'] })
  })
  it('is live while a process of the workspace runs, wherever it is', async () => {
    make('helix-ws-parts1')
    const env = { ...process.env, HELIX_WS_PROCESS: 'helix-ws-parts1:1' }
    const child = spawn('sleep', ['986'], { cwd: '/', env })
    await new Promise((resolve) => child.once('spawn', resolve))
    expect(await reap(2 * DAY_MS)).toMatchObject({ removed: [], live: ['helix-ws-parts1'] })
    child.kill('SIGKILL')
    await ended(child)
  })
})

it('a workspace of a running process that lost marker and files is not harmed by waiting', async () => {
  const { ws } = await host.open()
  renameSync(join(host.tmpdirRoot, ws.id, 'owner.json'), join(host.tmpdirRoot, 'moved'))
  expect(await reap(60_000)).toMatchObject({ removed: [], waiting: [ws.id] })
  await ws.fs.writeFile('/a', 'x')
  expect(await reap(365 * DAY_MS)).toMatchObject({ removed: [], foreign: [ws.id] })
})

it('reapers and makers side by side never harm each other', async () => {
  const makers = Array.from({ length: 20 }, async () => {
    const { ws } = await host.open()
    await ws.fs.writeFile('/kept', 'x')
    return ws
  })
  const reapers = Array.from({ length: 20 }, async () =>
    reapLocalBashTmpdirs({ tmpdirRoot: host.tmpdirRoot, graceMs: 0, unfinishedGraceMs: 0 }),
  )
  const [opened, reports] = await Promise.all([Promise.all(makers), Promise.all(reapers)])
  expect(reports.flatMap(({ removed, failed }) => [...removed, ...failed])).toEqual([])
  for (const ws of opened) expect((await ws.fs.stat('/kept')).size).toBe(1)
})

it('two reapers of one directory do not call each other a failure', async () => {
  const name = await crashWhileOpening('mkdirSync', '/root$')
  const both = await Promise.all([reap(DAY_MS), reap(DAY_MS)])
  expect(both.flatMap(({ failed }) => failed)).toEqual([])
  expect(both.flatMap(({ removed }) => removed)).toContain(name)
  expect(existsSync(join(host.tmpdirRoot, name))).toBe(false)
})

it('the directory of a new workspace is only for its user', async () => {
  const { ws } = await host.open()
  for (const part of ['', 'root', 'scratch', 'tmp']) {
    expect(statSync(join(host.tmpdirRoot, ws.id, part)).mode % 0o1000).toBe(0o700)
  }
})
