// Who may end what: sessions, processes and lives that share one id.
import { describe, expect, test } from 'vitest'
import { LedgerReporter } from '../../src/report/ledger-reporter.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { terminateSandbox } from '../../src/sweep/terminate-sandbox.ts'
import { finish, given, HOUR_MS, MINUTE_MS, setup, statusOf } from '../fleet-harness.ts'

const sandbox = { id: 'a', provider: 'fake', sessionId: 's1' }

function setupTwo() {
  const fleet = setup()
  const first = new LedgerReporter(fleet.context, 'first')
  const second = new LedgerReporter(fleet.context, 'second')
  fleet.driver.alive.set('a', {})
  const settle = () => finish(fleet.clock, Promise.all([first.flush(), second.flush()]))
  return { ...fleet, first, second, settle }
}

describe('a sandbox that another process goes on with', () => {
  test.each(['closed', 'owed', 'failed', 'released', 'detached'] as const)(
    'is not ended by what the first one tells late: %s',
    async (what) => {
      const { clock, context, driver, first, second, settle, store } = setupTwo()
      first.opened(sandbox)
      await settle()
      second.opened(sandbox)
      await settle()
      if (what === 'owed') first.owed('a', 'too late')
      else if (what === 'failed') first.failed('a', { code: 'x', message: 'y' })
      else first[what]('a')
      await settle()
      expect(await store.get('a')).toMatchObject({ status: 'running', lease: { holder: 'second' } })
      await clock.advance(HOUR_MS)
      await finish(clock, runCleanup(context, 'scheduled'))
      expect(driver.terminated).toEqual([])
      await second.stop()
    },
  )

  test('ends once that process is gone, too', async () => {
    const { clock, context, driver, first, second, settle } = setupTwo()
    first.opened(sandbox)
    second.opened(sandbox)
    await settle()
    await first.stop()
    await second.stop()
    await clock.advance(HOUR_MS)
    await finish(clock, runCleanup(context, 'scheduled'))
    expect(driver.terminated).toEqual(['a'])
  })
})

describe('a sandbox that two sessions of one process share', () => {
  test.each(['closed', 'owed', 'released', 'detached'] as const)(
    'is kept until both let it go: %s',
    async (what) => {
      const { clock, context, driver, first, settle, store } = setupTwo()
      const end = (sessionId: string): void => {
        if (what === 'owed') first.owed('a', 'its close failed', sessionId)
        else first[what]('a', sessionId)
      }
      first.opened(sandbox)
      first.opened({ ...sandbox, sessionId: 's2' })
      await settle()
      end('s1')
      await clock.advance(HOUR_MS)
      await finish(clock, runCleanup(context, 'scheduled'))
      expect(await store.get('a')).toMatchObject({ status: 'running', lease: { kind: 'owner' } })
      expect(driver.terminated).toEqual([])
      end('s2')
      await settle()
      expect((await store.get('a'))?.lease?.kind).not.toBe(what === 'owed' ? undefined : 'owner')
      await first.stop()
    },
  )
})

test('one that was thought failed and is used is not ended', async () => {
  const { clock, context, driver, first, settle, store } = setupTwo()
  first.provisioning(sandbox)
  first.failed('a', { code: 'open', message: 'did not start' })
  first.opened(sandbox)
  await settle()
  expect(await statusOf(store, 'a')).toBe('running')
  await clock.advance(HOUR_MS)
  await finish(clock, runCleanup(context, 'scheduled'))
  expect(driver.terminated).toEqual([])
  await first.stop()
})

test('who held an earlier life neither keeps nor ends a later one', async () => {
  const { clock, context, first, second, settle, store } = setupTwo()
  first.opened(sandbox)
  await settle()
  const request = { reason: 'operator', detail: 'x', by: 'me' } as const
  await finish(clock, terminateSandbox(context, 'a', request))
  second.opened({ ...sandbox, sessionId: 's2' })
  await settle()
  await clock.advance(5 * MINUTE_MS)
  expect(await store.get('a')).toMatchObject({ generation: 2, lease: { holder: 'second' } })
  expect(await terminateSandbox(context, 'a', { ...request, generation: 1 })).toBe('gone')
  expect(await statusOf(store, 'a')).toBe('running')
  await second.stop()
  expect(clock.pendingTimers).toBe(0)
})

test('a process that lets go gives another one the time to renew', async () => {
  const fleet = setup()
  await given(fleet, 'a', { lease: { kind: 'owner', holder: 'first', until: 0 } })
  const first = new LedgerReporter(fleet.context, 'first')
  first.released('a')
  await finish(fleet.clock, first.flush())
  const { items } = await finish(fleet.clock, runCleanup(fleet.context, 'pressure'))
  expect(items).toEqual([])
})
