// Which processes belong to a scope, seen with one that its parent has left.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sendSignal } from '../../../src/shell/processes/freeze.ts'
import { scanNewer, scanNow } from '../../../src/shell/processes/process-scan.ts'
import {
  allPids,
  MARKER_VARIABLE,
  placesOf,
  readProcess,
} from '../../../src/shell/processes/process-table.ts'
import { endTree, findMembers, type TreeScope } from '../../../src/shell/processes/process-tree.ts'
import { beforeFsCall } from '../../before-fs-call.ts'
import { untilOver } from '../../slow-machine.ts'
import { useDirectory } from '../../snapshots/store/store-fixture.ts'

const directory = useDirectory()
/** No other run of these tests has the same. */
const OTHER = `helix-ws-tree-${process.pid}:`
const place = (): string => join(directory(), 'inside')
beforeEach(() => mkdirSync(place()))
const scopeOf = (more: Partial<TreeScope> = {}): TreeScope => ({
  marker: 'helix-ws-none:',
  places: [],
  ...more,
})
const inPlace = (): number[] => allPids().filter((pid) => placesOf(pid, ['cwd'])[0] === place())

/** A process without environment and outputs, of a session of its own, whose parent has ended. */
async function orphan(env: Record<string, string> = {}): Promise<number> {
  const options = { cwd: place(), env, stdio: 'ignore' as const }
  spawn('/usr/bin/setsid', ['-f', '/usr/bin/sleep', '986'], options)
  const sleepers = (): number[] => inPlace().filter((each) => readProcess(each)?.session === each)
  await expect.poll(sleepers).toHaveLength(1)
  await expect.poll(inPlace).toEqual(sleepers())
  const [pid = 0] = sleepers()
  onTestFinished(() => sendSignal(pid, 'SIGKILL'))
  return pid
}

describe('a process that hides in a directory', () => {
  it('is a stray of who uses the directory alone, and ends with it', async () => {
    const pid = await orphan()
    const inside = scopeOf({ directory: place })
    expect(findMembers(inside)).toEqual([pid])
    expect(findMembers(scopeOf({ directory }))).toEqual([pid])
    const { startTime = 0 } = readProcess(pid) ?? {}
    expect(findMembers({ ...inside, sinceTicks: startTime })).toEqual([pid])
    expect(findMembers({ ...inside, sinceTicks: startTime + 1 })).toEqual([])
    const beside = place().slice(0, -1)
    expect(findMembers(scopeOf({ directory: () => beside }))).toEqual([])
    expect(findMembers(scopeOf({ directory: () => undefined }))).toEqual([])
    expect(findMembers(scopeOf())).toEqual([])
    expect(await endTree(inside, 0)).toEqual([])
    expect(inPlace()).toEqual([])
  })
  it('is none with a marker, which says whose it is', async () => {
    const pid = await orphan({ [MARKER_VARIABLE]: `${OTHER}1` })
    expect(findMembers(scopeOf({ directory: place }))).toEqual([])
    expect(findMembers(scopeOf({ marker: OTHER }))).toEqual([pid])
  })
  it('is none while its parent lives', async () => {
    const child = spawn('/usr/bin/sleep', ['986'], { cwd: place(), env: {}, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await expect.poll(inPlace).toEqual([child.pid])
    const isAdopted = readProcess(child.pid ?? 0)?.parent !== process.pid
    expect([isAdopted, findMembers(scopeOf({ directory: place }))]).toEqual([false, []])
  })
})

it('members are those of a session, and what descends from them, parents first', async () => {
  const script = 'sleep 986 & setsid bash -c "sleep 986; :" & wait'
  const child = spawn('/bin/bash', ['-c', script], {
    cwd: place(),
    detached: true,
    stdio: 'ignore',
  })
  const leader = child.pid ?? 0
  onTestFinished(() => void endTree(scopeOf({ leader }), 0))
  await expect.poll(() => inPlace().length).toBe(4)
  const members = findMembers(scopeOf({ leader }))
  expect(new Set(members)).toEqual(new Set(inPlace()))
  for (const [at, pid] of members.entries()) {
    const parent = readProcess(pid)?.parent ?? 0
    expect(at === 0 ? pid : members.indexOf(parent)).toBeLessThan(at === 0 ? Infinity : at)
  }
  expect(members[0]).toBe(leader)
  const last = Math.max(...members)
  const seen = scanNewer(last)?.processes.map(({ pid }) => pid)
  expect(seen?.filter((pid) => members.includes(pid))).toEqual([last])
  expect(await endTree(scopeOf({ leader }), 0)).toEqual([])
  expect(inPlace()).toEqual([])
})

describe('a scan of the newest', () => {
  it('begins with the one that is named, and sees each once', async () => {
    const pid = await orphan()
    const scan = scanNewer(pid)
    const pids = scan?.processes.map((seen) => seen.pid) ?? []
    expect([scan?.isComplete, pids.includes(pid)]).toEqual([true, true])
    expect(pids.filter((each) => each < pid)).toEqual([])
    expect(new Set(pids).size).toBe(pids.length)
    const all = scanNow().processes.map((seen) => seen.pid)
    expect([all.includes(process.pid), all.includes(pid)]).toEqual([false, true])
  })
})

it('what was asked to end is looked for again after a pause', async () => {
  const child = spawn('/bin/bash', ['-c', "trap '' TERM; echo; while :; do sleep 986; done"], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const { pid = 0 } = child
  onTestFinished(() => sendSignal(-pid, 'SIGKILL'))
  await once(child.stdout, 'data')
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  let scanned = 0
  beforeFsCall('readdirSync', (path) => (scanned += path === '/proc' ? 1 : 0))
  const ending = endTree(scopeOf({ leader: pid }), 1000)
  const scans = async (): Promise<number> => {
    for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    return scanned
  }
  const before = await scans()
  expect(before).toBeGreaterThan(0)
  expect(await scans()).toBe(before)
  expect(await untilOver(ending)).toEqual([])
})
