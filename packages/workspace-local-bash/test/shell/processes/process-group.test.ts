import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished, vi } from 'vitest'
import { endGroup } from '../../../src/shell/processes/process-group.ts'

/** A leader that ignores what it is told. It has no child: who fetches orphans is the host's affair. */
async function startGroup(): Promise<number> {
  const script =
    "process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1000)"
  const child = spawn(process.execPath, ['-e', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  return child.pid!
}

const isAlive = (leader: number): boolean => {
  try {
    return process.kill(-leader, 0)
  } catch {
    return false
  }
}

it('ends a group that ignores a polite signal', async () => {
  const leader = await startGroup()
  expect(isAlive(leader)).toBe(true)
  expect(await endGroup(leader, 50)).toEqual([])
  expect(isAlive(leader)).toBe(false)
})

it('has nothing to do for a group that is gone', async () => {
  const leader = await startGroup()
  await endGroup(leader, 0)
  expect(await endGroup(leader, 50)).toEqual([])
})

it('counts a group that may not be signalled as ended: macOS says so of zombies', async () => {
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
  })
  expect(await endGroup(1_000_000_000, 50)).toEqual([])
  expect(kill).toHaveBeenCalledExactlyOnceWith(-1_000_000_000, 'SIGTERM')
})

it('asks for as long as it may, and not once more', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  const ending = endGroup(1_000_000_000, 10)
  await vi.advanceTimersByTimeAsync(1010)
  expect(await ending).toEqual([1_000_000_000])
  const asked = kill.mock.calls.map(([, signal]) => signal)
  expect(asked.slice(0, 4)).toEqual(['SIGTERM', 0, 0, 'SIGKILL'])
  expect(asked.slice(4)).toEqual(Array.from({ length: 200 }, () => 0))
})
