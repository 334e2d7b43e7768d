import { MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { SweepLease } from '../../src/sweep/sweep-lease.ts'
import { MINUTE_MS, setup } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'

const LEASE_MS = 2 * MINUTE_MS

/** Counts how often a lease is asked for. */
class CountingStore extends MemoryFleetStore {
  requests = 0

  override acquireLease(request: Parameters<MemoryFleetStore['acquireLease']>[0]) {
    this.requests += 1
    return super.acquireLease(request)
  }
}

test('two passes of one process do not share a lease', async () => {
  let random = 0
  const { context } = setup()
  const each = { ...context, random: () => (random += 0.1) }
  expect(await SweepLease.acquire(each)).toBeDefined()
  expect(await SweepLease.acquire(each)).toBeUndefined()
})

test('a lease is of one environment', async () => {
  const { context } = setup()
  expect(await SweepLease.acquire(context)).toBeDefined()
  expect(await SweepLease.acquire({ ...context, environment: 'other' })).toBeDefined()
})

test('a lease that was given back is free at once', async () => {
  const { context } = setup()
  const lease = await SweepLease.acquire(context)
  await lease?.release()
  const next = await SweepLease.acquire({ ...context, instanceId: 'other' })
  expect(await next?.keep()).toEqual({ name: 'sweep:test', token: 2 })
})

test('it is renewed after each quarter of its time, and not before', async () => {
  const store = new CountingStore()
  const { clock, context } = setup({ store })
  const lease = await SweepLease.acquire(context)
  const fence = { name: 'sweep:test', token: 1 }
  const requests: number[] = []
  for (const ms of [0, LEASE_MS / 4 - 1, 1, LEASE_MS / 4 - 1, 1]) {
    await clock.advance(ms)
    expect(await lease?.keep()).toEqual(fence)
    requests.push(store.requests)
  }
  expect(requests).toEqual([1, 1, 2, 2, 3])
  await clock.advance(LEASE_MS - 1)
  expect(await lease?.keep()).toEqual(fence)
})

test('one that another sweeper took over is lost', async () => {
  const { clock, context } = setup()
  const lease = await SweepLease.acquire(context)
  await clock.advance(LEASE_MS)
  await SweepLease.acquire({ ...context, instanceId: 'other' })
  expect(await codeOf(lease!.keep())).toBe('lease-lost')
})

test('it is renewed by the clock of the ledger, also when that answers slowly', async () => {
  const clock = new ManualClock(1_700_000_000_000)
  let aheadMs = 0
  const now = async (): Promise<number> => {
    await clock.sleep(10)
    return clock.now() + aheadMs
  }
  const store = Object.assign(new CountingStore(), { now })
  const { context } = setup({ store, clock })
  const lease = await SweepLease.acquire(context)
  aheadMs = LEASE_MS / 2
  const kept = lease!.keep()
  await clock.advance(20)
  expect(await kept).toEqual({ name: 'sweep:test', token: 1 })
  expect(store.requests).toBe(2)
})
