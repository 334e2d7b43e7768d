import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import type { ExecOutcome } from '../../src/driver/port.ts'
import { whyNoTestbed } from './worker/availability.ts'
import { drive, ENSURE, line, startDriverTestbed, valueOf } from './worker/drive.ts'
import type { Step, StepResult } from './worker/worker.ts'

const reason = await whyNoTestbed()
const liveness = { intervalMs: 200, silenceMs: 600 }
const write: Step = { call: 'files.write', args: ['/workspace/f', new Uint8Array(10)] }
const read: Step = { call: 'files.read', args: ['/workspace/f'] }
const exitCode = (result: StepResult | undefined): number | undefined =>
  valueOf<ExecOutcome | undefined>(result)?.exitCode

describe.skipIf(reason !== undefined)('faults', () => {
  let testbed: SandboxTestbed
  beforeAll(async () => void (testbed = await startDriverTestbed()), 180_000)
  afterEach(() => testbed.faults.clear())
  afterAll(() => testbed.stop())

  it('a container that dies in the middle of a call ends the call', async () => {
    await drive(testbed, 'dies', [ENSURE])
    const steps = [line('touch begun; sleep 300', { timeoutMs: 400_000 }), ENSURE, line('true')]
    const session = drive(testbed, 'dies', steps, { liveness })
    const hasBegun = async (): Promise<number | undefined> =>
      exitCode((await drive(testbed, 'dies', [line('test -e begun')]))[0])
    await expect.poll(hasBegun, { timeout: 60_000 }).toBe(0)
    await testbed.crash('dies')
    const results = await session
    expect(results[0]?.error).toMatchObject({ code: 'interrupted' })
    expect(results[0]?.error?.['admitted']).not.toBe('no')
    expect(results[0]?.tookMs).toBeLessThan(100_000)
    expect(results.slice(1).map(({ error }) => error)).toEqual([undefined, undefined])
  }, 180_000)

  it('no room for a container is waited for, as long as the SDK itself waits', async () => {
    const fault = testbed.faults.inject({
      kind: 'capacity',
      reason: 'no-instance',
      sandbox: 'full',
    })
    const session = drive(testbed, 'full', [ENSURE, line('true')], { liveness })
    await fault.happened
    fault.remove()
    const [ensured, ran] = await session
    expect([ensured?.error, exitCode(ran)]).toEqual([undefined, 0])
  }, 120_000)

  it.each(['before-admission', 'after-admission'] as const)(
    'what may have run is not repeated, unless it does no harm: interrupted %s',
    async (when) => {
      const sandbox = when.slice(0, 6).replace('-', '')
      await drive(testbed, sandbox, [ENSURE, write])
      const fault = {
        kind: 'interrupted',
        when,
        call: 'commands.execute',
        sandbox,
        times: 1,
      } as const
      testbed.faults.inject(fault)
      const [ran] = await drive(testbed, sandbox, [line('echo x >> log')])
      expect(ran?.error).toMatchObject({ code: 'interrupted' })
      expect([ran?.error?.['admitted'] === 'no', ran?.trips]).toEqual([false, ['exec']])
      testbed.faults.inject(fault)
      const [again, log] = await drive(testbed, sandbox, [read, line('cat log')])
      expect([again?.error, again?.trips]).toEqual([undefined, ['exec', 'exec']])
      const { stdout } = valueOf<ExecOutcome>(log)
      expect(new TextDecoder().decode(stdout.bytes)).toBe(when === 'after-admission' ? 'x\n' : '')
    },
    120_000,
  )

  it('a slow start is waited for', async () => {
    testbed.faults.inject({ kind: 'slow-start', delayMs: 1500, sandbox: 'slow' })
    const [ensured, ran] = await drive(testbed, 'slow', [ENSURE, line('true')], { liveness })
    expect([ensured?.error, exitCode(ran)]).toEqual([undefined, 0])
  }, 120_000)

  it('a lost reply ends at the deadline, and the next call works', async () => {
    await drive(testbed, 'lost', [ENSURE])
    testbed.faults.inject({
      kind: 'lost-reply',
      call: 'commands.execute',
      sandbox: 'lost',
      times: 1,
    })
    const [gone, next] = await drive(
      testbed,
      'lost',
      [line('echo x', { timeoutMs: 100 }), line('echo y')],
      { deadlineScale: 0.02 },
    )
    expect(gone?.error).toMatchObject({ code: 'interrupted' })
    expect(gone?.error?.['admitted']).not.toBe('no')
    expect(exitCode(next)).toBe(0)
  }, 120_000)

  it('a frozen network ends no later than the deadline', async () => {
    await drive(testbed, 'frozen', [ENSURE])
    const fault = testbed.faults.inject({ kind: 'frozen-network', sandbox: 'frozen' })
    const [ran, got] = await drive(testbed, 'frozen', [line('true', { timeoutMs: 100 }), read], {
      deadlineScale: 0.02,
    })
    expect(ran?.error).toMatchObject({ code: 'interrupted', admitted: 'unknown' })
    expect(got?.error).toMatchObject({ code: 'interrupted', admitted: 'unknown' })
    fault.remove()
  }, 120_000)

  it('a destroy that the platform refuses is not reported as done', async () => {
    await drive(testbed, 'stays', [ENSURE])
    testbed.faults.inject({ kind: 'rejected-destroy', step: 'both', sandbox: 'stays' })
    const [refused] = await drive(testbed, 'stays', [{ call: 'destroy' }], { deadlineScale: 0.02 })
    const isThere = (await testbed.sandbox('stays')) !== undefined
    expect(refused?.error?.['code'] ?? 'destroyed').toBe(
      isThere ? 'destroy-unconfirmed' : 'destroyed',
    )
    testbed.faults.clear()
  }, 120_000)
})
