// A ledger that is away, or hangs, while a process reports and ends.
import { FleetError } from '@helix-agents/core/runtime'
import { fleetMessages, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { expect, test } from 'vitest'
import { LedgerReporter } from '../../src/report/ledger-reporter.ts'
import { finish, MINUTE_MS, setup } from '../fleet-harness.ts'

const sandbox = { id: 'a', provider: 'fake' }

class AwayStore extends MemoryFleetStore {
  isAway = false
  isHung = false
  calls = 0

  #check(): Promise<void> {
    this.calls += 1
    if (this.isHung) return new Promise(() => undefined)
    const error = new FleetError('unavailable', 'away')
    return this.isAway ? Promise.reject(error) : Promise.resolve()
  }

  override async get(id: string) {
    await this.#check()
    return super.get(id)
  }

  override async addUsage(...args: Parameters<MemoryFleetStore['addUsage']>) {
    await this.#check()
    return super.addUsage(...args)
  }

  override async create(...args: Parameters<MemoryFleetStore['create']>) {
    await this.#check()
    return super.create(...args)
  }
}

function setupAway() {
  const store = new AwayStore()
  const fleet = setup({ store })
  return { ...fleet, store, reporter: new LedgerReporter(fleet.context, 'me') }
}

test('what was done last is told when a process ends', async () => {
  const { clock, reporter, store } = setupAway()
  reporter.opened(sandbox)
  await finish(clock, reporter.flush())
  await clock.advance(1000)
  reporter.activity('a')
  await finish(clock, reporter.stop())
  expect(await store.get('a')).toMatchObject({ operations: 1, lastActivityAt: clock.now() })
  expect(clock.pendingTimers).toBe(0)
})

test('no operation is lost from the counts of a ledger that was away', async () => {
  const { clock, reporter, store } = setupAway()
  reporter.opened(sandbox)
  await finish(clock, reporter.flush())
  store.isAway = true
  for (let n = 0; n < 5; n += 1) reporter.activity('a', { timedOut: n === 0 })
  await clock.advance(5 * MINUTE_MS)
  store.isAway = false
  reporter.activity('a')
  await finish(clock, reporter.flush())
  expect(await store.usageSince(0)).toEqual({ executions: 6, timeouts: 1 })
  await reporter.stop()
})

test('a ledger that never answers does not hold up the end of a process, and gets no queue', async () => {
  const { clock, logger, reporter, store } = setupAway()
  reporter.opened(sandbox)
  await finish(clock, reporter.flush())
  store.isHung = true
  const before = store.calls
  for (let n = 0; n < 10_000; n += 1) {
    reporter.activity('a')
    if (n % 1000 === 0) await clock.advance(MINUTE_MS)
  }
  expect(store.calls - before).toBeLessThan(100)
  await finish(clock, reporter.stop())
  expect(logger.with('Sandbox report lost').length).toBeGreaterThan(0)
  expect(clock.pendingTimers).toBe(0)
})

test('an announcement is tried again, six times in all, and then said to be lost', async () => {
  const { clock, logger, reporter, store } = setupAway()
  store.isAway = true
  reporter.provisioning(sandbox)
  await finish(clock, reporter.flush())
  expect(store.calls).toBe(6)
  const lost = logger.with(fleetMessages.reportLost)
  expect(lost).toMatchObject([{ level: 'warn', fields: { sandboxId: 'a' } }])
  expect(lost[0]?.fields).toHaveProperty('err.code', 'unavailable')
  store.isAway = false
  reporter.provisioning(sandbox)
  await finish(clock, reporter.flush())
  expect(await store.get('a')).toMatchObject({ status: 'provisioning' })
  expect(clock.pendingTimers).toBe(0)
})

test('an announcement that the ledger refuses is not tried again', async () => {
  const { clock, logger, reporter, store } = setupAway()
  reporter.provisioning({ ...sandbox, provider: '' })
  await finish(clock, reporter.flush())
  expect(store.calls).toBe(0)
  const [lost] = logger.with(fleetMessages.reportLost)
  expect(lost?.fields).toHaveProperty('err.code', 'invalid-record')
})

test('an admission waits for what was reported before, and not for a ledger that hangs', async () => {
  const { clock, reporter, store } = setupAway()
  reporter.provisioning(sandbox)
  await reporter.admit(sandbox)
  expect(await store.get('a')).toMatchObject({ lease: { holder: 'me' }, version: 2 })
  store.isHung = true
  const admitted = reporter.admit(sandbox).catch((error: unknown) => error)
  await clock.advance(10_000)
  const message = 'the ledger did not answer in time'
  expect(await admitted).toMatchObject({ code: 'unavailable', message })
})
