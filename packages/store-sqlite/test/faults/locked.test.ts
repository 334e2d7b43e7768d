// Another process holds the lock of the file.
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { begun, opened, textsOf, user } from '../script.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { spawnChild } from './child.ts'

test('writes wait for the lock in their order, and other work goes on', async () => {
  const path = join(temporaryDirectory(), 'locked.db')
  const { stateStore } = await opened(path, { busyTimeoutMs: 60_000 })
  const write = await begun(stateStore, 's')
  const child = spawnChild(['lock', path])
  expect(await child.next()).toBe('locked')

  const order: number[] = []
  const writes = [1, 2, 3].map(async (n) => {
    await stateStore.appendMessages({ ...write, messages: [user(`${n}`)] })
    order.push(n)
  })
  // Reading, and everything else, is not held up: the child answers through this event loop.
  expect((await stateStore.loadSession('s'))?.messageCount).toBe(0)
  expect(order).toEqual([])
  child.send('let go')
  expect(await child.next()).toBe('free')
  await Promise.all(writes)
  expect(order).toEqual([1, 2, 3])
  expect(await textsOf(stateStore, 's')).toEqual(['1', '2', '3'])
})

test('a write that waits never blocks the event loop for long', async () => {
  const path = join(temporaryDirectory(), 'locked.db')
  const clock = new ManualClock()
  const { stateStore } = await opened(path, { busyTimeoutMs: 5000, clock })
  const write = await begun(stateStore, 's')
  const child = spawnChild(['lock', path])
  await child.next()

  const waiting = stateStore.appendMessages({ ...write, messages: [user('late')] })
  const settled = Promise.allSettled([waiting])
  // Each attempt is one timer of the clock: nothing happens, nothing blocks, until it moves.
  expect(clock.pendingTimers).toBe(1)
  await clock.advance(4999)
  expect(clock.pendingTimers).toBe(1)
  await clock.advance(1)
  const reason = { code: 'unavailable', transient: true, cause: { kind: 'busy' } }
  expect(await settled).toMatchObject([{ status: 'rejected', reason }])

  child.send('let go')
  await child.next()
  await stateStore.appendMessages({ ...write, messages: [user('then')] })
  expect(await textsOf(stateStore, 's')).toEqual(['then'])
})

test('closing ends what waits', async () => {
  const path = join(temporaryDirectory(), 'locked.db')
  const stores = await opened(path, { clock: new ManualClock() })
  const write = await begun(stores.stateStore, 's')
  const child = spawnChild(['lock', path])
  await child.next()
  const waiting = ['a', 'b'].map((text) =>
    stores.stateStore.appendMessages({ ...write, messages: [user(text)] }),
  )
  const settled = Promise.allSettled(waiting)
  await stores.close()
  for (const result of await settled) {
    expect(result).toMatchObject({ reason: { code: 'unavailable', cause: { kind: 'closed' } } })
  }
})

test('opening waits for the lock as well', async () => {
  const path = join(temporaryDirectory(), 'new.db')
  const clock = new ManualClock()
  const child = spawnChild(['lock', path])
  await child.next()
  const opening = opened(path, { clock, busyTimeoutMs: 100 })
  const settled = Promise.allSettled([opening])
  await clock.advance(100)
  expect(await settled).toMatchObject([{ reason: { code: 'unavailable' } }])
})
