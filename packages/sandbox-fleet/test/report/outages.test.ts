// A ledger that is away, or hangs, while a process reports and ends.
import { FleetError } from '@helix-agents/core/runtime'
import { MemoryFleetStore } from '@helix-agents/sandbox-fleet'
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
