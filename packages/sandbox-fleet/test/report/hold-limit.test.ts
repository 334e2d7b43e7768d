// How long a run may hold a sandbox, and what its session hears before.
import { Fleet, type HoldEnding } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { diagnose } from '../../src/detect/diagnose.ts'
import { LedgerReporter } from '../../src/report/ledger-reporter.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { finish, HOUR_MS, MINUTE_MS, setup } from '../fleet-harness.ts'

/** A run in a loop that does not end: its process lives and holds the sandbox. */
async function hold({ critical = false } = {}) {
  const parts = setup()
  const { clock, context, driver } = parts
  const warnings: HoldEnding[] = []
  const onHoldEnding = (warning: HoldEnding): void => void warnings.push(warning)
  const reporter = new LedgerReporter(context, 'run', { onHoldEnding })
  const sandbox = { id: 'a', provider: 'fake', sessionId: 's', critical }
  driver.alive.set('a', { ownerAlive: true })
  reporter.opened(sandbox)
  await finish(clock, reporter.flush())
  const cleanFor = async (ms: number): Promise<void> => {
    for (const until = clock.now() + ms; clock.now() < until;) {
      await clock.advance(5 * MINUTE_MS)
      reporter.activity('a')
      await finish(clock, reporter.flush())
      await finish(clock, runCleanup(context, 'scheduled'))
    }
  }
  return { ...parts, cleanFor, reporter, sandbox, warnings }
}

describe('a run that holds its sandbox', () => {
  test('keeps it for four hours, is warned, and then loses it with the reason', async () => {
    const { cleanFor, clock, driver, logger, store, warnings } = await hold()
    const endsAt = clock.now() + 4 * HOUR_MS
    expect(await store.get('a')).toMatchObject({ holdDeadlineAt: endsAt })
    await cleanFor(3 * HOUR_MS + 40 * MINUTE_MS)
    expect([driver.terminated, warnings]).toEqual([[], []])
    await cleanFor(15 * MINUTE_MS)
    expect(warnings).toMatchObject([{ sandboxId: 'a', sessionId: 's', endsAt }])
    expect(logger.with('Sandbox hold ends soon')[0]?.fields).toMatchObject({ sessionId: 's' })
    expect(driver.terminated).toEqual([])
    await cleanFor(15 * MINUTE_MS)
    expect(driver.terminated).toEqual(['a'])
    expect((await store.get('a'))?.kill).toMatchObject({
      reason: 'deadline',
      detail: 'its run holds it for more than 240 min, the longest time that a run may',
    })
    expect(warnings).toHaveLength(1)
  })

  test('keeps it when it is critical', async () => {
    const { cleanFor, driver, store, warnings } = await hold({ critical: true })
    expect((await store.get('a'))?.holdDeadlineAt).toBeUndefined()
    await cleanFor(9 * HOUR_MS)
    expect([driver.terminated, warnings]).toEqual([[], []])
  })

  test('has the whole time again when it lets go in between', async () => {
    const { cleanFor, clock, driver, reporter, sandbox, store } = await hold()
    await cleanFor(3 * HOUR_MS)
    reporter.detached('a', 's')
    await finish(clock, reporter.flush())
    expect(await store.get('a')).not.toHaveProperty('holdDeadlineAt')
    reporter.opened(sandbox)
    await finish(clock, reporter.flush())
    await cleanFor(3 * HOUR_MS)
    expect(driver.terminated).toEqual([])
    await cleanFor(HOUR_MS + 10 * MINUTE_MS)
    expect(driver.terminated).toEqual(['a'])
  })

  test('the finding says when it ends', async () => {
    const { cleanFor, clock, context, store } = await hold()
    await cleanFor(3 * HOUR_MS + 50 * MINUTE_MS)
    const record = await store.get('a')
    const { policy } = context
    const found = record === undefined ? [] : diagnose(record, { now: clock.now(), policy })
    expect(found.find(({ kind }) => kind === 'hold-ending')).toMatchObject({
      severity: 'warning',
      nextStep: 'A cleanup ends it in 10 min, in use or not. Its session is warned.',
    })
  })

  test('a lease of the admission is warned as well', async () => {
    const { clock, driver, store } = setup()
    const fleet = new Fleet({ store, drivers: [driver], environment: 'test', clock })
    const warnings: HoldEnding[] = []
    const request = { id: 'b', provider: 'fake', sessionId: 's' }
    const onHoldEnding = (warning: HoldEnding): void => void warnings.push(warning)
    await fleet.admission.open({ ...request, onHoldEnding }, async () => {})
    await clock.advance(3 * HOUR_MS + 40 * MINUTE_MS)
    expect(warnings).toEqual([])
    await clock.advance(10 * MINUTE_MS)
    expect(warnings).toMatchObject([{ sandboxId: 'b', sessionId: 's' }])
  })
})
