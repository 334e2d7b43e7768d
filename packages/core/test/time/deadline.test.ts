import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { withDeadline } from '../../src/time/deadline.ts'

const onTimeout = () => new Error('too late')

test('gives the result of what ends in time, and leaves no timer', async () => {
  const clock = new ManualClock()
  const deadline = { clock, timeoutMs: 10, onTimeout }
  expect(await withDeadline(Promise.resolve('done'), deadline)).toBe('done')
  await expect(withDeadline(Promise.reject(new Error('own')), deadline)).rejects.toThrow('own')
  expect(clock.pendingTimers).toBe(0)
})

test('rejects at the deadline; a late rejection of the work is not unhandled', async () => {
  const clock = new ManualClock()
  const work = Promise.withResolvers<void>()
  const bounded = withDeadline(work.promise, { clock, timeoutMs: 10, onTimeout })
  const caught = bounded.catch((error: unknown) => error)
  await clock.advance(10)
  expect(await caught).toMatchObject({ message: 'too late' })
  work.reject(new Error('late'))
  await clock.advance(1)
})
