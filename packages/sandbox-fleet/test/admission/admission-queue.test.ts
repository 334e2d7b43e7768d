import { FleetError } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { AdmissionQueue } from '../../src/admission/admission-queue.ts'

const full = new FleetError('capacity-exhausted', 'test')

test('who is woken tries at once, and leaves no timer behind', async () => {
  const clock = new ManualClock()
  const queue = new AdmissionQueue()
  let hasRoom = false
  const attempt = async (): Promise<string> => {
    if (!hasRoom) throw full
    return 'in'
  }
  const waiting = queue.wait(attempt, { clock, timeoutMs: 5000, pollMs: 1000 })
  await clock.advance(0)
  expect([queue.length, clock.pendingTimers]).toEqual([1, 1])
  hasRoom = true
  queue.wakeFirst()
  expect(await waiting).toBe('in')
  expect([queue.length, clock.pendingTimers]).toEqual([0, 0])
})

test('the wait is over when its time is', async () => {
  const clock = new ManualClock()
  const queue = new AdmissionQueue()
  let tries = 0
  const attempt = async (): Promise<never> => {
    tries += 1
    throw full
  }
  const waiting = queue.wait(attempt, { clock, timeoutMs: 2500, pollMs: 1000 })
  const end = waiting.catch((error: unknown) => error)
  await clock.advance(2499)
  expect([queue.length, tries]).toEqual([1, 3])
  await clock.advance(1)
  expect(await end).toMatchObject({ code: 'capacity-exhausted', hint: expect.any(String) })
  expect([queue.length, tries, clock.pendingTimers]).toEqual([0, 4, 0])
})
