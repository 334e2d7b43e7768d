import { type ChildProcess, spawn } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { reapLocalBashTmpdirs, type ReapOptions } from '@helix-agents/workspace-local-bash'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SESSION, TestHost, text } from './open-workspace.ts'

const HOUR_MS = 3_600_000
let host: TestHost
const children = new Set<ChildProcess>()
beforeEach(() => {
  host = new TestHost()
})
afterEach(async () => {
  for (const child of children) await crash(child)
  await host.dispose()
})

function reap(laterMs: number, options: ReapOptions = {}) {
  const clock = new ManualClock(Date.now() + laterMs)
  return reapLocalBashTmpdirs({ tmpdirRoot: host.tmpdirRoot, clock, ...options })
}

/** Processes that work in a workspace, as the host sees them: inside they have other ids. */
function processesOf(name: string): string[] {
  const place = join(host.tmpdirRoot, name, 'root')
  return readdirSync('/proc').filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(place)
    } catch {
      return false
    }
  })
}

/** Opens a workspace in another process, which then lives on with a background process. */
const OWNER = `
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { systemClock, noopLogger } from '@helix-agents/core'
const [tmpdirRoot, sessionId] = process.argv.slice(1)
const provider = new LocalBashWorkspaceProvider({ tmpdirRoot })
const options = { workspace: 'w', capabilities: {}, signal: new AbortController().signal,
  logger: noopLogger, clock: systemClock }
const { ws, ref } = await provider.open({ kind: 'local-bash', env: { OF_CONFIG: 'kept' } },
  { sessionId, agentType: 'a' }, options)
await ws.fs.writeFile('/kept', 'by the first owner')
await ws.shell.start('echo $$ > pid; exec sleep 986')
while (!(await ws.fs.glob('pid')).length) await new Promise((next) => setTimeout(next, 10))
console.log(JSON.stringify(ref))
setInterval(() => {}, 1000)
`

/** Attaches to a workspace in another process, which then lives on. */
const SUCCESSOR = `
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { systemClock, noopLogger } from '@helix-agents/core'
const [tmpdirRoot, sessionId, ref] = process.argv.slice(1)
const session = { sessionId, agentType: 'a' }
await new LocalBashWorkspaceProvider({ tmpdirRoot }).resolve(JSON.parse(ref), { session,
  workspace: 'w', capabilities: {}, signal: new AbortController().signal,
  logger: noopLogger, clock: systemClock })
console.log(ref)
setInterval(() => {}, 1000)
`

const startOwner = () => startProcess(OWNER)
const startSuccessor = (ref: WorkspaceRef) => startProcess(SUCCESSOR, JSON.stringify(ref))

async function startProcess(
  script: string,
  ...extra: readonly string[]
): Promise<{ child: ChildProcess; ref: never; name: string }> {
  const node = ['--conditions=@helix-agents/source', '--input-type=module', '-e', script]
  const args = [...node, host.tmpdirRoot, SESSION.sessionId, ...extra]
  const child = spawn(process.execPath, args, {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  const line = await new Promise<Buffer>((resolve) => child.stdout.once('data', resolve))
  const ref = JSON.parse(line.toString())
  return { child, ref: ref as never, name: ref.ref.directory }
}

async function crash(child: ChildProcess): Promise<void> {
  if (!children.delete(child)) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

describe('an owner that crashed', () => {
  it('leaves what is reaped after the grace period, processes included', async () => {
    const { child, name } = await startOwner()
    expect(await reap(30 * 24 * HOUR_MS)).toMatchObject({ removed: [], live: [name] })
    await crash(child)
    expect(processesOf(name)).not.toEqual([])
    expect(await reap(HOUR_MS - 60_000)).toMatchObject({ removed: [], waiting: [name] })
    expect(await reap(2 * HOUR_MS, { dryRun: true })).toMatchObject({ removed: [name] })
    expect(await reap(2 * HOUR_MS)).toMatchObject({ removed: [name], failed: [] })
    expect([readdirSync(host.tmpdirRoot), processesOf(name)]).toEqual([[], []])
  })
  it('leaves what the session can go on with', async () => {
    const { child, ref, name } = await startOwner()
    await crash(child)
    const { ws, opened } = await host.resolve(ref)
    expect(opened.receipt.outcome).toBe('reattached')
    expect(text(await ws.fs.readFile('/kept'))).toBe('by the first owner')
    expect(text((await ws.shell.run('echo $OF_CONFIG')).stdout)).toBe('kept\n')
    expect(await reap(30 * 24 * HOUR_MS)).toMatchObject({ removed: [], live: [name] })
    await ws.close()
    expect(readdirSync(host.tmpdirRoot)).toEqual([])
  })
})

describe('an owner that was overtaken', () => {
  it('has left processes, which end before its successor works with the files', async () => {
    const { child, ref, name } = await startOwner()
    await crash(child)
    expect(processesOf(name)).not.toEqual([])
    await host.resolve(ref)
    expect(processesOf(name)).toEqual([])
  })
  it('lives on: its processes are its own', async () => {
    const { ref, name } = await startOwner()
    await host.resolve(ref)
    expect(processesOf(name)).not.toEqual([])
  })
  it('detaches late, and its successor is still the owner', async () => {
    const { ws, opened } = await host.open()
    await startSuccessor(opened.ref)
    await ws.detach()
    expect((await reap(30 * 24 * HOUR_MS)).live).toEqual([ws.id])
  })
})

function moveElsewhere(name: string): void {
  const path = join(host.tmpdirRoot, name, 'owner.json')
  const marker = JSON.parse(readFileSync(path, 'utf8'))
  marker.process.place = 'another-host pid:[1]'
  writeFileSync(path, JSON.stringify(marker))
}

describe('an owner that cannot be seen from here, as in another container', () => {
  it('may be alive: its workspace waits as long as a detached one', async () => {
    const { child, name } = await startOwner()
    await crash(child)
    moveElsewhere(name)
    expect((await reap(6 * 24 * HOUR_MS)).waiting).toEqual([name])
    expect((await reap(8 * 24 * HOUR_MS)).removed).toEqual([name])
  })
  it('is not taken for a process of ours that has its id', async () => {
    const { ws } = await host.open()
    moveElsewhere(ws.id)
    expect((await reap(2 * HOUR_MS)).waiting).toEqual([ws.id])
    expect((await reap(8 * 24 * HOUR_MS, { dryRun: true })).removed).toEqual([ws.id])
  })
})

describe('what is never removed', () => {
  it('a live workspace, however old', async () => {
    const { ws } = await host.open()
    expect((await reap(365 * 24 * HOUR_MS)).live).toEqual([ws.id])
    await ws.fs.writeFile('/a', 'still here')
  })
  it('a detached workspace before its own, longer grace period', async () => {
    const { ws } = await host.open()
    await ws.detach()
    expect((await reap(6 * 24 * HOUR_MS)).waiting).toEqual([ws.id])
    expect((await reap(8 * 24 * HOUR_MS)).removed).toEqual([ws.id])
  })
  it('no workspace beyond its grace period: times of files have fractions of a millisecond', async () => {
    const { ws } = await host.open()
    const root = join(host.tmpdirRoot, ws.id, 'root')
    await ws.detach()
    writeFileSync(join(root, 'last'), 'x')
    const clock = new ManualClock(Math.floor(statSync(root).ctimeMs))
    const options = { tmpdirRoot: host.tmpdirRoot, clock, detachedGraceMs: 0 }
    expect((await reapLocalBashTmpdirs(options)).removed).toEqual([ws.id])
  })
  it('what is only named alike', async () => {
    const root = host.tmpdirRoot
    mkdirSync(join(root, 'precious'))
    mkdirSync(join(root, 'helix-ws-noMarker'))
    writeFileSync(join(root, 'helix-ws-noMarker', 'notes.txt'), 'of somebody')
    writeFileSync(join(root, 'helix-ws-aFile1'), 'x')
    symlinkSync(join(root, 'precious'), join(root, 'helix-ws-aLink1'))
    mkdirSync(join(root, 'helix-ws-x'))
    mkdirSync(join(root, 'helix-ws-brokenMarker'))
    writeFileSync(join(root, 'helix-ws-brokenMarker', 'owner.json'), '{"format":1}')
    const names = readdirSync(root)
    const report = await reap(365 * 24 * HOUR_MS)
    expect(report.removed).toEqual([])
    expect(report.foreign.length).toBe(4)
    expect(readdirSync(root)).toEqual(names)
  })
  it('what lies behind a link', async () => {
    const { child, name } = await startOwner()
    await crash(child)
    const directory = join(host.tmpdirRoot, name)
    const outside = join(host.tmpdirRoot, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'file'), 'x')
    symlinkSync(outside, join(directory, 'root', 'link'))
    renameSync(join(directory, 'tmp'), join(directory, 'tmp.old'))
    symlinkSync(outside, join(directory, 'tmp'))
    expect((await reap(2 * HOUR_MS)).removed).toEqual([name])
    expect(readdirSync(outside)).toEqual(['file'])
  })
})

it('a removal that was interrupted is finished', async () => {
  const { child, name } = await startOwner()
  await crash(child)
  renameSync(join(host.tmpdirRoot, name), join(host.tmpdirRoot, `${name}.reaped`))
  expect((await reap(2 * HOUR_MS)).removed).toEqual([`${name}.reaped`])
  expect(readdirSync(host.tmpdirRoot)).toEqual([])
})

it('the id of a dead owner that another process has now does not protect', async () => {
  const { ws } = await host.open()
  const path = join(host.tmpdirRoot, ws.id, 'owner.json')
  const marker = JSON.parse(readFileSync(path, 'utf8'))
  marker.process.startTime -= 1
  writeFileSync(path, JSON.stringify(marker))
  expect((await reap(2 * HOUR_MS, { dryRun: true })).removed).toEqual([ws.id])
  marker.process.startTime += 1
  marker.process.bootId = 'of-another-start'
  writeFileSync(path, JSON.stringify(marker))
  expect((await reap(2 * HOUR_MS, { dryRun: true })).removed).toEqual([ws.id])
  utimesSync(join(host.tmpdirRoot, ws.id, 'scratch'), new Date(), Date.now() / 1000 + 7200)
  expect((await reap(2 * HOUR_MS, { dryRun: true })).waiting).toEqual([ws.id])
})

it('a directory that is not there has nothing to reap', async () => {
  expect((await reap(0, { tmpdirRoot: join(host.tmpdirRoot, 'no') })).removed).toEqual([])
})
