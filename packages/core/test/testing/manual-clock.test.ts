import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'

test('fires timers in order, each at its own moment', async () => {
  const clock = new ManualClock(0)
  const fired: [string, number][] = []
  clock.setTimer(20, () => fired.push(['late', clock.now()]))
  clock.setTimer(10, () => {
    fired.push(['early', clock.now()])
    clock.setTimer(5, () => fired.push(['nested', clock.now()]))
  })
  const cancel = clock.setTimer(12, () => fired.push(['cancelled', clock.now()]))
  cancel()
  await clock.advance(30)
  expect(fired).toEqual([
    ['early', 10],
    ['nested', 15],
    ['late', 20],
  ])
  expect([clock.now(), clock.pendingTimers]).toEqual([30, 0])
})

test('a sleep ends in time or with the abort, and leaves nothing behind', async () => {
  const clock = new ManualClock()
  const abort = new AbortController()
  const asleep = clock.sleep(10, abort.signal)
  await clock.advance(10)
  await asleep
  const woken = clock.sleep(10, abort.signal)
  abort.abort('enough')
  await expect(woken).rejects.toBe('enough')
  await expect(clock.sleep(10, abort.signal)).rejects.toBe('enough')
  expect(clock.pendingTimers).toBe(0)
})
