// How a run is stopped, and everything below it.
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { RunControl, type StopCause } from '../../src/run/run-control.ts'

test.each<readonly [StopCause, StopCause]>([
  ['aborted', 'aborted'],
  ['max-duration', 'aborted'],
  ['shutdown', 'shutdown'],
  ['lease-lost', 'lease-lost'],
])('a run that is stopped by %s stops those below by %s', (cause, below) => {
  const [control, child] = [new RunControl(), new RunControl()]
  control.adopt(child)
  control.stop(cause)
  control.stop('aborted')
  expect([control.cause, child.cause]).toEqual([cause, below])
  expect(control.signal.reason).toMatchObject({
    name: 'AbortError',
    message: 'the run was stopped',
  })
  expect(child.signal.aborted).toBe(true)
  expect(control.isShutDown).toBe(cause === 'shutdown')
})

test('one that was stopped, shut down or interrupted does the same to whom it adopts later', () => {
  const stopped = new RunControl()
  stopped.stop('lease-lost')
  const one = new RunControl()
  stopped.adopt(one)
  expect([one.cause, one.interrupted, one.isShutDown]).toEqual(['lease-lost', false, false])
  const down = new RunControl()
  down.shutDown()
  const two = new RunControl()
  down.adopt(two)
  expect([two.cause, two.interrupted, two.isShutDown]).toEqual([undefined, true, true])
  const interrupted = new RunControl()
  interrupted.interrupt()
  const three = new RunControl()
  interrupted.adopt(three)
  expect([three.cause, three.interrupted, three.isShutDown]).toEqual([undefined, true, false])
})

test('a shutdown and an interruption reach those below, until they are let go', () => {
  const control = new RunControl()
  const [one, two] = [new RunControl(), new RunControl()]
  control.adopt(one)
  const letGo = control.adopt(two)
  letGo()
  control.interrupt()
  expect([control.interrupted, one.interrupted, two.interrupted]).toEqual([true, true, false])
  control.shutDown()
  expect([control.isShutDown, one.isShutDown, two.isShutDown]).toEqual([true, true, false])
  control.stop('aborted')
  expect([one.cause, two.cause]).toEqual(['aborted', undefined])
})

test('a time limit stops a run, unless it was taken back', async () => {
  const clock = new ManualClock()
  const [one, two] = [new RunControl(), new RunControl()]
  one.limit(clock, 100)
  two.limit(clock, 100)()
  expect(clock.pendingTimers).toBe(1)
  await clock.advance(99)
  expect(one.cause).toBeUndefined()
  await clock.advance(1)
  expect([one.cause, two.cause]).toEqual(['max-duration', undefined])
  new RunControl().limit(clock, undefined)()
  expect(clock.pendingTimers).toBe(0)
})

test('the signal of a caller stops a run: at once, later, or not any more', () => {
  const early = new RunControl()
  early.follow(AbortSignal.abort())
  const own = new AbortController()
  const [late, free] = [new RunControl(), new RunControl()]
  late.follow(own.signal)
  free.follow(own.signal)()
  free.follow(undefined)()
  own.abort()
  expect([early.cause, late.cause, free.cause]).toEqual(['aborted', 'aborted', undefined])
})
