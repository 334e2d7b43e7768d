// What a command leaves behind, when it is held without a namespace.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sendSignal } from '../../../src/shell/processes/freeze.ts'
import { holdersOf } from '../../../src/shell/processes/holders.ts'
import {
  isEnded,
  MARKER_VARIABLE,
  readProcess,
} from '../../../src/shell/processes/process-table.ts'
import {
  endTree,
  findMembers,
  mayHaveLeftovers,
} from '../../../src/shell/processes/process-tree.ts'
import { ScanHold } from '../../../src/shell/processes/scan-hold.ts'
import { useDirectory } from '../../snapshots/store/store-fixture.ts'

const directory = useDirectory()
/** No other run of these tests has the same. */
const MARKER = `helix-ws-hold-${process.pid}:`
const started: ChildProcess[] = []
afterEach(() => {
  for (const { pid } of started.splice(0)) if (pid !== undefined) sendSignal(-pid, 'SIGKILL')
})

/** A line of bash in a group of its own, which says that it has begun. */
async function start(line: string, env: Record<string, string> = {}) {
  const child = spawn('/bin/bash', ['-c', line], {
    cwd: directory(),
    detached: true,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  started.push(child)
  const ended = once(child, 'exit')
  if (child.stdout === null) throw new TypeError('no output')
  await once(child.stdout, 'data')
  return { pid: child.pid ?? 0, ended }
}
const marked = { [MARKER_VARIABLE]: `${MARKER}1` }
/** Without a child: a signal that comes while bash makes one is lost on it. */
const OBEYS = 'trap "exit 5" TERM; echo; while :; do :; done'
const IGNORES = 'trap "" TERM; echo; sleep 986; :'
const scopeOf = (leader?: number) => ({
  marker: MARKER,
  places: [],
  ...(leader !== undefined && { leader }),
})
const runs = (pid: number): boolean => {
  const entry = readProcess(pid)
  return entry !== undefined && !isEnded(entry)
}

describe('a command that is ended', () => {
  it('is asked, and not killed when it obeys', async () => {
    const { pid, ended } = await start(OBEYS)
    await new ScanHold(scopeOf(pid)).end(600_000)
    expect(await ended).toEqual([5, null])
  })
  it('is killed once its time is over', async () => {
    const { pid, ended } = await start(IGNORES)
    const startMs = performance.now()
    await new ScanHold(scopeOf(pid)).end(40)
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(39)
    expect([await ended, findMembers(scopeOf(pid))]).toEqual([[null, 'SIGKILL'], []])
  })
  it('is killed at once, without time to obey', async () => {
    const { pid, ended } = await start(OBEYS)
    expect(await endTree(scopeOf(pid), 0)).toEqual([])
    expect(await ended).toEqual([null, 'SIGKILL'])
  })
})

describe('what a command left', () => {
  it('is killed when it is over', async () => {
    const { pid, ended } = await start(OBEYS, marked)
    await new ScanHold(scopeOf(2 ** 30)).endLeftovers(501)
    expect([await ended, runs(pid)]).toEqual([[null, 'SIGKILL'], false])
  })
  it('is nothing of a program that could not be started', async () => {
    const { pid } = await start(OBEYS, marked)
    await new ScanHold(scopeOf()).endLeftovers(501)
    expect(runs(pid)).toBe(true)
  })
  it('is younger than a command that was quick: only then all are looked at', async () => {
    const older = await start(OBEYS, marked)
    const quick = async (durationMs: number): Promise<boolean> => {
      const { pid, ended } = await start('echo')
      await ended
      return mayHaveLeftovers(scopeOf(pid), durationMs)
    }
    // While strangers start programs, or very many of them, nothing is certain: each time anew.
    await expect.poll(() => quick(0), { interval: 1 }).toBe(false)
    await expect.poll(() => quick(500), { interval: 1 }).toBe(false)
    expect([await quick(501), await mayHaveLeftovers(scopeOf(), 500)]).toEqual([true, true])
    const { pid: leader } = await start('echo')
    const { pid: younger } = await start(OBEYS, marked)
    expect(await mayHaveLeftovers(scopeOf(leader), 500)).toBe(true)
    expect(findMembers(scopeOf()).toSorted((a, b) => a - b)).toEqual(
      expect.arrayContaining([older.pid, younger]),
    )
  })
})

describe('who holds a directory', () => {
  it('is named with five places at most, each once', async () => {
    mkdirSync(join(directory(), 'd'))
    const names = ['a', 'b', 'c', 'd/e', 'd/f', 'd/g']
    for (const name of names) writeFileSync(join(directory(), name), '')
    const opens = names.map((name, at) => `exec ${at + 10}<${name} ${at + 20}<${name}`).join('; ')
    const { pid } = await start(`${opens}; echo; read -r -u 98 || kill -STOP $$`)
    const holders = holdersOf(directory())
    expect(holders.map((each) => each.pid)).toEqual([pid])
    const [{ places } = { places: [] }] = holders
    expect([places.length, new Set(places).size, places[0]]).toEqual([5, 5, directory()])
    for (const place of places) expect(`${place}/`.startsWith(`${directory()}/`)).toBe(true)
    expect(holdersOf(join(directory(), 'd'))[0]?.places.toSorted()).toEqual(
      ['d/e', 'd/f', 'd/g'].map((name) => join(directory(), name)),
    )
  })
  it('is one of twenty at most', async () => {
    const { pid } = await start('for i in {1..21}; do sleep 986 & done; echo; wait')
    await expect.poll(() => findMembers(scopeOf(pid)).length).toBe(22)
    expect(holdersOf(directory())).toHaveLength(20)
  })
})

it('a tree of which nothing is left takes no time', async () => {
  const kill = vi.spyOn(process, 'kill')
  try {
    expect(await endTree(scopeOf(), 600_000)).toEqual([])
    expect(kill).not.toHaveBeenCalled()
  } finally {
    kill.mockRestore()
  }
})
