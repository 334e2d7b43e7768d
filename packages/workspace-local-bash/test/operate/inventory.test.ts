import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, systemClock } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { LocalBashInventory } from '@helix-agents/workspace-local-bash/operate'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { residentKb, ticksOf } from '../../src/operate/process-usage.ts'
import { MARKER_VARIABLE, readProcess } from '../../src/shell/processes/process-table.ts'
import { openFilesOf } from '../open-files.ts'
import { date, DEAD, markerOf, NAME, place, PLACED_MS, useRoot } from './placed-workspace.ts'

const root = useRoot()
const clock = new ManualClock(PLACED_MS + 5000)
const inventory = (): LocalBashInventory => new LocalBashInventory({ tmpdirRoot: root(), clock })
const failure = (why: string): unknown =>
  expect.objectContaining({
    code: 'provider-failed',
    message: `the workspace cannot be ended: ${why}`,
    transient: true,
  })

describe('a workspace that is inspected', () => {
  it('of this process is in use', () => {
    place(root(), markerOf({ sinceMs: PLACED_MS + 1 }))
    expect(inventory().inspect(NAME)).toEqual({
      name: NAME,
      state: 'present',
      ownerAlive: true,
      sinceMs: PLACED_MS + 1,
      lastUseMs: PLACED_MS + 1,
    })
  })
  it.each([
    ['a dead owner', { process: DEAD }, { ownerAlive: false }],
    ['no owner', { process: undefined }, { ownerAlive: false, isDetached: true }],
    ['an owner elsewhere', { process: { ...DEAD, place: 'another-host' } }, {}],
  ])('has %s', (_, more, expected) => {
    const { process: own, ...kept } = markerOf(more)
    place(root(), own === undefined ? kept : { ...kept, process: own })
    expect(inventory().inspect(NAME)).toEqual({
      name: NAME,
      state: 'present',
      ...expected,
      sinceMs: PLACED_MS,
      lastUseMs: PLACED_MS,
    })
  })
  it.each(['root', 'scratch', 'scratch/pipes', 'tmp'])('was used when %s was', (part) => {
    const path = place(root(), markerOf())
    mkdirSync(join(path, 'scratch/pipes'))
    utimesSync(join(path, 'scratch/pipes'), 1, 1)
    date(path)
    utimesSync(join(path, part), 1, PLACED_MS / 1000 + 3)
    expect(inventory().inspect(NAME).lastUseMs).toBe(PLACED_MS + 3000)
  })
  it('is unknown without a valid marker, and as a link', () => {
    mkdirSync(join(root(), NAME))
    expect(inventory().inspect(NAME)).toEqual({ name: NAME, state: 'unknown' })
    const path = place(root(), markerOf(), 'helix-ws-target')
    symlinkSync(path, join(root(), 'helix-ws-linked'))
    expect(inventory().inspect('helix-ws-linked')).toEqual({
      name: 'helix-ws-linked',
      state: 'unknown',
    })
  })
  it('is absent when it is not there, or has another name', () => {
    mkdirSync(join(root(), 'other'))
    for (const name of [NAME, 'other', '..', '']) {
      expect(inventory().inspect(name)).toEqual({ name, state: 'absent' })
    }
    const nowhere = new LocalBashInventory({ tmpdirRoot: join(root(), 'gone') })
    expect([nowhere.inspect(NAME).state, nowhere.list()]).toEqual(['absent', []])
    writeFileSync(join(root(), 'file'), '')
    const file = new LocalBashInventory({ tmpdirRoot: join(root(), 'file', 'below') })
    expect(() => file.list()).toThrow('ENOTDIR')
    expect(() => file.inspect(NAME)).toThrow('ENOTDIR')
  })
  it('is listed once, also while it is removed', () => {
    place(root(), markerOf())
    place(root(), markerOf(), `${NAME}.reaped`)
    place(root(), markerOf({ process: DEAD }), 'helix-ws-others.reaped')
    mkdirSync(join(root(), 'helix-ws-'))
    mkdirSync(join(root(), 'other'))
    const found = inventory().list()
    expect(found.map(({ name, state, ownerAlive }) => [name, state, ownerAlive])).toEqual(
      expect.arrayContaining([
        [NAME, 'present', true],
        ['helix-ws-others', 'present', false],
      ]),
    )
    expect(found).toHaveLength(2)
  })
})

describe('a workspace that is ended', () => {
  it('is gone with its processes', async () => {
    place(root(), markerOf({ process: DEAD }), BUSY)
    const { pid, ended } = await start('trap "" TERM; echo; while :; do sleep 986; done')
    await inventory().end(BUSY)
    expect([readProcess(pid)?.state ?? 'Z', readdirSync(root())]).toEqual(['Z', []])
    expect(await ended).toEqual([null, 'SIGKILL'])
  })
  it('is gone, and what is gone is fine', async () => {
    place(root(), markerOf({ process: DEAD }))
    await inventory().end(NAME)
    await inventory().end(NAME)
    expect(readdirSync(root())).toEqual([])
  })
  it('is also one whose removal was interrupted, and what is left of an earlier one', async () => {
    place(root(), markerOf({ process: DEAD }), `${NAME}.reaped`)
    await inventory().end(NAME)
    expect(readdirSync(root())).toEqual([])
    place(root(), markerOf({ process: DEAD }), `${NAME}.reaped`)
    place(root(), markerOf({ process: DEAD }))
    await inventory().end(NAME)
    expect(readdirSync(root())).toEqual([])
  })
  it('has a marker', async () => {
    mkdirSync(join(root(), NAME, 'root'), { recursive: true })
    await expect(inventory().end(NAME)).rejects.toEqual(
      failure('it has no valid marker of this user'),
    )
    expect(existsSync(join(root(), NAME, 'root'))).toBe(true)
  })
  it.each(['a file', 'a link', 'a directory without a marker'])(
    'stays while %s has the name that it needs',
    async (what) => {
      const path = place(root(), markerOf({ process: DEAD }))
      const doomed = `${path}.reaped`
      if (what === 'a file') writeFileSync(doomed, '')
      else if (what === 'a link') {
        symlinkSync(place(root(), markerOf(), 'helix-ws-target'), doomed)
      } else mkdirSync(doomed)
      await expect(inventory().end(NAME)).rejects.toEqual(
        failure(`something else has the name ${NAME}.reaped`),
      )
      expect([existsSync(path), existsSync(doomed)]).toEqual([true, true])
    },
  )
})

function write(path: string, text: string, second: number): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  utimesSync(path, 1, second)
}

describe('the logs of a workspace', () => {
  it('are the outputs on disk, the last one at the end', () => {
    const path = place(root(), markerOf())
    write(join(path, 'root/.helix/output/a1.stdout'), 'stored', 1)
    write(join(path, 'scratch/b2.stderr'), 'running\n', 3)
    write(join(path, 'scratch/background/p1.stdout'), 'one\ntwo\n\n', 2)
    write(join(path, 'scratch/background/p1.stderr'), '', 4)
    for (const name of ['p1.out', '.stdout', 'p1.stdout.old', 'p-1.stdout']) {
      write(join(path, 'scratch/background', name), 'other', 5)
    }
    mkdirSync(join(path, 'scratch/d.stdout'))
    expect(inventory().logs(NAME)).toBe(
      '[stored a1 stdout]\nstored\n[background p1 stdout]\none\ntwo\n\n[running b2 stderr]\nrunning\n',
    )
  })
  it('are the last eight', () => {
    const path = place(root(), markerOf())
    for (let n = 1; n <= 9; n += 1) write(join(path, `scratch/r${n}.stdout`), `${n}`, 100 - n)
    write(join(path, 'scratch/background/p1.stdout'), 'newest', 200)
    const titles = inventory()
      .logs(NAME)
      .match(/\[.*\]/g)
    expect(titles).toEqual([
      ...[7, 6, 5, 4, 3, 2, 1].map((n) => `[running r${n} stdout]`),
      '[background p1 stdout]',
    ])
  })
  it('are the last 16 KiB of each, from the start of a line on', () => {
    const path = place(root(), markerOf())
    const most = 16 * 1024
    const output = join(path, 'scratch/r1.stdout')
    write(output, `${'x'.repeat(most - 2)}\nz`, 1)
    expect(inventory().logs(NAME)).toBe(`[running r1 stdout]\n${'x'.repeat(most - 2)}\nz\n`)
    write(output, `y${'x'.repeat(most - 2)}\nz`, 1)
    expect(inventory().logs(NAME)).toBe('[running r1 stdout]\nz\n')
    write(output, '', 1)
    truncateSync(output, most + 1)
    expect(inventory().logs(NAME)).toBe(`[running r1 stdout]\n${'\0'.repeat(most)}\n`)
  })
  it('are open no more once they are read', () => {
    const path = place(root(), markerOf())
    mkdirSync(join(path, 'scratch/background'), { recursive: true })
    inventory().logs(NAME)
    expect(openFilesOf(root())).toBe(0)
  })
  it('are none of a workspace that is not one of this user', () => {
    expect(inventory().logs(NAME)).toBe('')
    const path = place(root(), markerOf())
    write(join(path, 'scratch/r1.stdout'), 'x', 1)
    renameSync(join(path, 'owner.json'), join(path, 'aside'))
    expect(inventory().logs(NAME)).toBe('')
  })
})

/** Time that passes when somebody sleeps, and what is done meanwhile. */
const clockOf = (sleep: (ms: number) => void | Promise<void>): Clock => ({
  now: () => systemClock.now(),
  setTimer: systemClock.setTimer.bind(systemClock),
  sleep: async (ms) => sleep(ms),
})
/** Of a workspace with processes, which no other run of these tests has. */
const BUSY = `helix-ws-busy${process.pid}`
/** One of these processes, which runs bash until it is ended. */
async function start(line: string) {
  const env = { [MARKER_VARIABLE]: `${BUSY}:1` }
  const child = spawn('/bin/bash', ['-c', line], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return { pid: child.pid ?? 0, ended }
}

describe('what a workspace uses', () => {
  it('is that of its processes', async () => {
    const [one, two] = [await start('echo; read -u 9'), await start('echo; exec sleep 986')]
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const busy = clockOf(async (ms) => {
      await vi.advanceTimersByTimeAsync(ms)
    })
    const pids = [two.pid]
    await one.ended
    const used = await new LocalBashInventory({ tmpdirRoot: root(), clock: busy }).resources(BUSY)
    expect(used).toEqual({
      cpuPercent: 0,
      memoryMb: Math.round(residentKb(pids) / 1024),
      processes: 1,
    })
  })
  it('is the share of a core that they had meanwhile', async () => {
    const { pid } = await start('echo; while :; do :; done')
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const stop = async (): Promise<number> => {
      process.kill(pid, 'SIGSTOP')
      while (readProcess(pid)?.state !== 'T') await nextTurn()
      return ticksOf([pid])
    }
    const before = await stop()
    let after = before
    const busy = clockOf(async (ms) => {
      await vi.advanceTimersByTimeAsync(ms)
      process.kill(pid, 'SIGCONT')
      while (ticksOf([pid]) < before + 4) await nextTurn()
      after = await stop()
    })
    const all = new LocalBashInventory({ tmpdirRoot: root(), clock: busy })
    const { cpuPercent } = await all.resources(BUSY)
    // In a fifth of a second.
    expect(cpuPercent).toBe((after - before) * 5)
  })
  it('is nothing without processes, measured over a fifth of a second', async () => {
    const slept: number[] = []
    const noting = clockOf((ms) => void slept.push(ms))
    const all = new LocalBashInventory({ tmpdirRoot: root(), clock: noting })
    for (const name of [NAME, 'helix-ws-', '']) {
      expect(await all.resources(name)).toEqual({ cpuPercent: 0, memoryMb: 0, processes: 0 })
    }
    expect(slept).toEqual([200, 200, 200])
  })
})
