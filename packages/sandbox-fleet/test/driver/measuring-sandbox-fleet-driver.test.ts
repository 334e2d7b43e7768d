// The command runs for real, in a shell of this machine.
import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { ManualClock } from '@helix-agents/core/testing'
import { Fleet, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MeasuringSandboxFleetDriver } from '../../src/cloudflare/measuring-sandbox-fleet-driver.ts'

const run = promisify(execFile)
const HOUR_MS = 3_600_000
const target = { id: 'a', generation: 1 }

function setup(answer?: { readonly stdout: string; readonly exitCode: number }) {
  const calls: string[] = []
  const state = { status: 'healthy' }
  const driver = new MeasuringSandboxFleetDriver({
    getSandbox: () => ({
      getState: async () => state,
      destroy: async () => {},
      exec: async (command, { cwd }) => {
        calls.push(`exec ${cwd}`)
        return answer ?? { stdout: (await run('sh', ['-c', command])).stdout, exitCode: 0 }
      },
    }),
  })
  return { calls, driver, state }
}

describe.skipIf(process.platform !== 'linux')('a sandbox that is measured (needs /proc)', () => {
  test('a busy process shows', async () => {
    const busy = spawn('sh', ['-c', 'while :; do :; done'])
    onTestFinished(() => void busy.kill('SIGKILL'))
    const { driver } = setup()
    const { cpuPercent, memoryMb } = await driver.resources(target)
    expect(cpuPercent).toBeGreaterThan(10)
    expect(memoryMb).toBeGreaterThan(10)
  })

  test('one that is stopped is not started', async () => {
    const { calls, driver, state } = setup()
    state.status = 'stopped'
    expect(await driver.resources(target)).toEqual({ cpuPercent: 0, memoryMb: 0 })
    state.status = 'stopping'
    await expect(driver.resources(target)).rejects.toMatchObject({ code: 'not-supported' })
    expect(calls).toEqual([])
  })

  test.each([
    ['nothing', { stdout: '', exitCode: 0 }],
    ['words', { stdout: 'sh: awk: not found\n4096', exitCode: 0 }],
    ['no time', { stdout: '1 2 3.0 3.0\n4096', exitCode: 0 }],
    ['a failure', { stdout: '1 2 3.0 3.2\n4096', exitCode: 127 }],
  ])('cannot be told from %s', async (_, answer) => {
    const { driver } = setup(answer)
    await expect(driver.resources(target)).rejects.toMatchObject({ code: 'not-supported' })
  })

  test('an operator measures it, also without its usual directory, and no pass does: it would never sleep', async () => {
    const { calls, driver } = setup({ stdout: '10 512 3.0 3.2\n4096', exitCode: 0 })
    const clock = new ManualClock()
    const store = new MemoryFleetStore()
    const fleet = new Fleet({ store, drivers: [driver], environment: 'test', clock })
    await fleet.admission.open({ id: 'a', provider: 'cloudflare-sandbox' }, async () => {})
    await clock.advance(HOUR_MS / 6)
    const { sampled } = await fleet.tick()
    expect([sampled, calls]).toEqual([0, []])
    expect(await fleet.resources('a')).toMatchObject({ cpuPercent: 50, memoryMb: 2 })
    expect(calls).toEqual(['exec /'])
  })
})
