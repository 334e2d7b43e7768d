import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type ProcessScan,
  scanNewer,
  scanNow,
  scanProcesses,
} from '../../../src/shell/processes/process-scan.ts'
import {
  allPids,
  isEnded,
  newestPid,
  placesOf,
  readProcess,
} from '../../../src/shell/processes/process-table.ts'
import { turnsDuring } from '../../slow-machine.ts'

const programOf = (pid: number): string | undefined => placesOf(pid, ['exe'])[0]
const pidsOf = ({ processes }: ProcessScan): number[] => processes.map(({ pid }) => pid)

async function sleeper(): Promise<number> {
  const child = spawn('/bin/sleep', ['986'], { stdio: 'ignore', env: {} })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child.pid ?? 0
}

describe('a scan of all processes', () => {
  it('is shared by those who ask before it begins, and is not older than who asks later', async () => {
    const early = scanProcesses()
    expect(scanProcesses()).toBe(early)
    await early
    const pid = await sleeper()
    const late = scanProcesses()
    expect(late).not.toBe(early)
    expect(pidsOf(await early)).not.toContain(pid)
    expect(pidsOf(await late)).toContain(pid)
  })
  it('begins when the one before is over', async () => {
    const over: string[] = []
    const first = scanProcesses().then(() => over.push('first'))
    await Promise.resolve()
    await Promise.resolve()
    await Promise.resolve()
    const second = scanProcesses().then(() => over.push('second'))
    const third = scanProcesses().then(() => over.push('third'))
    await Promise.all([third, second, first])
    expect(over).toEqual(['first', 'second', 'third'])
  })
  it('sees each process once, but for this one, and leaves others their turns', async () => {
    const pid = await sleeper()
    let scan: ProcessScan | undefined
    const turns = await turnsDuring(async () => {
      scan = await scanProcesses()
    })
    const found = scan === undefined ? [] : pidsOf(scan)
    expect(turns).toBeGreaterThanOrEqual(found.length)
    expect([found.includes(pid), found.includes(process.pid)]).toEqual([true, false])
    expect(new Set(found).size).toBe(found.length)
  })
  it('leaves out what has ended, and threads of the kernel', async () => {
    const line = '(kill -STOP $BASHPID; :) & echo $!; exec sleep 986'
    const holder = spawn('/bin/bash', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'] })
    onTestFinished(() => void holder.kill('SIGKILL'))
    const [said] = (await once(holder.stdout, 'data')) as [Buffer]
    const ended = Number(said)
    // It ends when its parent is a program that fetches none.
    await expect.poll(() => readProcess(ended)?.state, { interval: 1 }).toBe('T')
    await expect.poll(() => programOf(holder.pid ?? 0), { interval: 1 }).toMatch(/sleep$/)
    process.kill(ended, 'SIGCONT')
    await expect.poll(() => readProcess(ended)?.state, { interval: 1 }).toBe('Z')
    expect(allPids()).toContain(ended)
    expect([
      pidsOf(scanNow()).includes(ended),
      pidsOf(await scanProcesses()).includes(ended),
    ]).toEqual([false, false])
    expect(scanNow().processes.filter((each) => isEnded(each))).toEqual([])
  })
})

/** What comes of it while no process comes or goes on the host. */
function quietly<T>(run: (newest: number) => T): T {
  for (;;) {
    const newest = newestPid() ?? 0
    const result = run(newest)
    if (newestPid() === newest) return result
  }
}

describe('a scan of the newest processes', () => {
  it('looks at 256 at most', () => {
    expect(quietly((newest) => scanNewer(newest - 256))).toMatchObject({ isComplete: false })
    expect(quietly((newest) => scanNewer(newest - 255))).toMatchObject({ isComplete: true })
    expect(quietly((newest) => scanNewer(newest - 257))).toBeUndefined()
    expect(quietly((newest) => scanNewer(newest + 1))).toBeUndefined()
    expect(quietly((newest) => scanNewer(newest))).toMatchObject({ isComplete: true })
  })
  it('begins with the one that is named, and leaves out this one', async () => {
    const pid = await sleeper()
    expect(pidsOf(scanNewer(pid) ?? scanNow())).toContain(pid)
    expect(quietly((newest) => pidsOf(scanNewer(newest - 255) ?? scanNow()))).not.toContain(
      process.pid,
    )
  })
})

it('a scan in one turn is complete while no more come than it can look at', () => {
  expect(quietly(() => scanNow().isComplete)).toBe(true)
})
