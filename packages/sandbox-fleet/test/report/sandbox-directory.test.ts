import { FleetError } from '@helix-agents/core/runtime'
import { createReportingDirectory, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { expect, test } from 'vitest'
import { LedgerReporter } from '../../src/report/ledger-reporter.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { terminateSandbox } from '../../src/sweep/terminate-sandbox.ts'
import { finish, HOUR_MS, setup, statusOf } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'

const sandbox = {
  sandboxId: 'hx-a',
  session: { sessionId: 's', agentType: 'coder' },
  workspace: 'box',
  isShared: false,
}

const labels = () => ({ taskId: 't' })

function setupDirectory(store = new MemoryFleetStore()) {
  const fleet = setup({ store })
  const reporter = new LedgerReporter(fleet.context, 'me')
  const directory = createReportingDirectory(reporter, { provider: 'fake', labels })
  return { ...fleet, directory, reporter, store }
}

test('a sandbox is in the ledger before the platform hears of it', async () => {
  const { directory, store } = setupDirectory()
  await directory.recordOpening(sandbox)
  expect(await store.get('hx-a')).toMatchObject({
    status: 'provisioning',
    sessionId: 's',
    agentType: 'coder',
    taskId: 't',
    lease: { kind: 'owner', holder: 'me' },
  })
  // An open that is tried again, before and after it was told to run.
  await directory.recordOpening(sandbox)
  expect(await statusOf(store, 'hx-a')).toBe('provisioning')
})

test('what the ledger does not take is not made', async () => {
  const store = new MemoryFleetStore()
  const { clock, directory } = setupDirectory(store)
  store.create = () => Promise.reject(new FleetError('unavailable', 'away'))
  expect(await codeOf(directory.recordOpening(sandbox))).toBe('unavailable')
  store.create = () => new Promise(() => undefined)
  const hung = codeOf(directory.recordOpening(sandbox))
  await clock.advance(10_000)
  expect(await hung).toBe('unavailable')
  const nameless = { ...sandbox, sandboxId: '../a' }
  expect(await codeOf(setupDirectory().directory.recordOpening(nameless))).toBe('invalid-record')
})

test('a confirmed end is recorded, and its id starts a new life', async () => {
  const { clock, directory, reporter, store } = setupDirectory()
  await directory.recordOpening(sandbox)
  reporter.opened({ id: 'hx-a', provider: 'fake', sessionId: 's' })
  await directory.recordDestroyed(sandbox)
  await finish(clock, reporter.flush())
  expect(await statusOf(store, 'hx-a')).toBe('terminated')
  await directory.recordOpening(sandbox)
  expect(await store.get('hx-a')).toMatchObject({ status: 'provisioning', generation: 2 })
})

test('an end that is not confirmed is owed, unless the session is back first', async () => {
  const { clock, context, directory, driver, reporter, store } = setupDirectory()
  driver.alive.set('hx-a', {})
  await directory.recordOpening(sandbox)
  await directory.recordDestroyFailed(sandbox, new Error('no answer'))
  await finish(clock, reporter.flush())
  expect(await statusOf(store, 'hx-a')).toBe('terminating')
  await directory.recordOpening(sandbox)
  expect(await statusOf(store, 'hx-a')).toBe('running')
  await directory.recordDestroyFailed(sandbox, new Error('no answer'))
  await finish(clock, reporter.flush())
  await finish(clock, runCleanup(context, 'scheduled'))
  expect(driver.terminated).toEqual(['hx-a'])
})

test('one that is being destroyed is not opened', async () => {
  const { clock, context, directory, driver } = setupDirectory()
  driver.alive.set('hx-a', {})
  driver.onTerminate = () => new Promise(() => undefined)
  await directory.recordOpening(sandbox)
  const request = { reason: 'operator', detail: 'x', by: 'me' } as const
  const ending = terminateSandbox(context, 'hx-a', request)
  await clock.advance(0)
  expect(await codeOf(directory.recordOpening(sandbox))).toBe('invalid-transition')
  await finish(clock, ending)
})

test('one that was announced and never came is ended after its time', async () => {
  const { clock, context, directory, store } = setupDirectory()
  await directory.recordOpening(sandbox)
  await clock.advance(HOUR_MS)
  await finish(clock, runCleanup(context, 'scheduled'))
  expect(await statusOf(store, 'hx-a')).toBe('terminated')
})
