// Reports that the ledger did not take: what follows makes up for them, and a ledger that is away is not hurried.
import { FleetError } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { LedgerReporter } from '../../src/report/ledger-reporter.ts'
import { finish, setup } from '../fleet-harness.ts'

const SANDBOX = { id: 'r', provider: 'fake' }

test('one whose opening was lost is opened before it is released', async () => {
  const { clock, context, store } = setup()
  const reporter = new LedgerReporter(context, 'me', {})
  const create = store.create.bind(store)
  store.create = async () => {
    throw new FleetError('invalid-record', 'test')
  }
  reporter.opened(SANDBOX)
  await finish(clock, reporter.flush())
  expect(await store.get('r')).toBeUndefined()
  store.create = create
  reporter.released('r')
  await finish(clock, reporter.flush())
  expect(await store.get('r')).toMatchObject({ status: 'running' })
  expect((await store.get('r'))?.lease).toBeUndefined()
  await reporter.stop()
})

test('one whose opening was lost is opened before it is said to be owed', async () => {
  const { clock, context, store } = setup()
  const reporter = new LedgerReporter(context, 'me', {})
  const create = store.create.bind(store)
  store.create = async () => {
    throw new FleetError('invalid-record', 'test')
  }
  reporter.opened(SANDBOX)
  await finish(clock, reporter.flush())
  store.create = create
  reporter.owed('r', 'it did not close')
  await finish(clock, reporter.flush())
  expect(await store.get('r')).toMatchObject({
    status: 'terminating',
    kill: { reason: 'owner-closed', detail: 'it did not close' },
  })
  await reporter.stop()
})

test('a ledger that is away is asked again after a while', async () => {
  const { clock, context, logger, store } = setup()
  const reporter = new LedgerReporter(context, 'me', {})
  let asked = 0
  store.create = async () => {
    asked += 1
    throw new FleetError('unavailable', 'test')
  }
  reporter.provisioning(SANDBOX)
  const flushed = reporter.flush()
  for (let turn = 0; turn < 10; turn += 1) await clock.advance(0)
  expect(asked).toBe(1)
  await finish(clock, flushed)
  expect(asked).toBeGreaterThan(1)
  expect(logger.lines).toHaveLength(1)
  await reporter.stop()
})
