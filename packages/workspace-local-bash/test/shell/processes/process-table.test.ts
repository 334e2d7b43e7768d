import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { readlinkSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { holdersOf } from '../../../src/shell/processes/holders.ts'
import {
  allPids,
  bootId,
  childrenOf,
  descriptorsOf,
  isEnded,
  isGone,
  listsProcesses,
  MARKER_VARIABLE,
  markersOf,
  newestPid,
  placesOf,
  processPlace,
  readProcess,
} from '../../../src/shell/processes/process-table.ts'
import { scanNewer, scanNow } from '../../../src/shell/processes/process-scan.ts'
import { findMembers } from '../../../src/shell/processes/process-tree.ts'
import { useDirectory } from '../../snapshots/store/store-fixture.ts'

const directory = useDirectory()
const NONE = 2 ** 30

/** A process that sleeps in the directory, with a marker. */
async function sleeper(marker = 'helix-ws-table:1') {
  const env = {
    PATH: process.env.PATH ?? '',
    [MARKER_VARIABLE]: marker,
    OTHER: `${MARKER_VARIABLE}=x`,
  }
  const child = spawn('sleep', ['987'], { cwd: directory(), env, stdio: 'ignore', detached: true })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { pid = 0 } = child
  await expect.poll(() => markersOf(pid)).toEqual([marker])
  return { pid, child }
}

it('the table tells of a process what it is, and nothing of one that is gone', async () => {
  expect(listsProcesses).toBe(true)
  const { pid, child } = await sleeper()
  const before = readProcess(pid)
  expect(before).toMatchObject({ pid, parent: process.pid, group: pid, session: pid })
  expect(before?.startTime).toBeGreaterThanOrEqual(readProcess(process.pid)?.startTime ?? Infinity)
  expect(before && isEnded(before)).toBe(false)
  expect(childrenOf(process.pid)).toContain(pid)
  expect([allPids().includes(pid), allPids().includes(process.pid)]).toEqual([true, false])
  expect(newestPid()).toBeGreaterThanOrEqual(pid)
  expect(placesOf(pid, ['cwd', 'no-such', 'fd/0'])).toEqual([directory(), '/dev/null'])
  expect(descriptorsOf(pid)).toEqual(expect.arrayContaining(['fd/0', 'fd/1', 'fd/2']))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
  for (const gone of [pid, NONE]) {
    expect([readProcess(gone), markersOf(gone), childrenOf(gone)]).toEqual([undefined, [], []])
    expect([placesOf(gone, ['cwd']), descriptorsOf(gone)]).toEqual([[], []])
  }
})

it('a process that has ended and that nobody fetched holds nothing', () => {
  const entry = { pid: 1, parent: 0, group: 1, session: 1, startTime: 0 }
  expect(['Z', 'X', 'S', 'R'].map((state) => isEnded({ ...entry, state }))).toEqual([
    true,
    true,
    false,
    false,
  ])
  const errors = ['ESRCH', 'EPERM', 'EINVAL'].map((code) =>
    Object.assign(new Error(code), { code }),
  )
  expect(errors.map(isGone)).toEqual([true, true, false])
})

it('the host and its table have names', () => {
  expect(bootId()).toMatch(/^[0-9a-f-]{36}$/)
  expect(processPlace()).toBe(`${hostname()} ${readlinkSync('/proc/self/ns/pid')}`)
})

it('a scan sees what runs, also when it looks at the newest only', async () => {
  const { pid } = await sleeper()
  const isSleeper = (one: { readonly pid: number }): boolean => one.pid === pid
  const newest = scanNewer(pid)?.processes.find(isSleeper)
  const seen = scanNow().processes.find(isSleeper)
  expect(seen).toMatchObject({
    parent: process.pid,
    markers: ['helix-ws-table:1'],
    outputs: ['/dev/null', '/dev/null'],
    cwd: directory(),
  })
  // It may be about to sleep.
  expect({ ...newest, state: 'S' }).toEqual({ ...seen, state: 'S' })
  expect([scanNewer(NONE), scanNewer((newestPid() ?? 0) - 257)]).toEqual([undefined, undefined])
})

it('members of a scope are known by leader, marker or outputs', async () => {
  const { pid } = await sleeper('helix-ws-other:7')
  const nowhere = { marker: 'no:', places: [] }
  expect(findMembers(nowhere)).toEqual([])
  expect(findMembers({ ...nowhere, leader: pid })).toEqual([pid])
  expect(findMembers({ ...nowhere, marker: 'helix-ws-other:' })).toEqual([pid])
  expect(findMembers({ ...nowhere, marker: 'helix-ws-other:8' })).toEqual([])
})

it('the holders of a directory are named with what they hold', async () => {
  expect(holdersOf(directory())).toEqual([])
  const { pid } = await sleeper()
  expect(holdersOf(directory())).toEqual([{ pid, places: [directory()] }])
  expect(holdersOf(directory().slice(0, -1))).toEqual([])
})
