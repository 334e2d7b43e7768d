// An abort of a session whose turns wait in a queue: what it stops, what it waits for, what it leaves.
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import type { RunServices } from '../../src/ports.ts'
import { abortTurns } from '../../src/stream/abort-turns.ts'
import { settle } from '../harness.ts'

type Look = readonly [cancelled: number, begun: boolean, active: boolean]

function worldOf(looks: readonly Look[], session: object | null = { status: 'completed' }) {
  const clock = new ManualClock(1000)
  const asked: unknown[] = []
  const left = [...looks]
  const turnQueue = {
    cancelTurns: async (...given: unknown[]) => {
      asked.push(given)
      const [cancelled, begun, active] = left.shift() ?? [0, false, false]
      return { cancelled, begun, active }
    },
  }
  const services = { turnQueue, clock, stateStore: { loadSession: async () => session } }
  let aborts = 0
  const abort = (turnId?: string) =>
    abortTurns(
      services as unknown as RunServices,
      { sessionId: 's', ...(turnId !== undefined && { turnId }) },
      async () => void (aborts += 1),
    )
  return { clock, asked, abort, services, aborts: () => aborts }
}

test('without a queue the run is aborted, and waited for', async () => {
  const hold = Promise.withResolvers<void>()
  let isOver = false
  const aborting = abortTurns({} as RunServices, { sessionId: 's' }, () => hold.promise)
  const over = aborting.then(() => (isOver = true))
  await settle()
  expect(isOver).toBe(false)
  hold.resolve()
  await over
})

test.each<readonly [string, Look, object | null, string | undefined, number]>([
  ['nothing waited: the run', [0, false, false], { status: 'running' }, undefined, 1],
  ['nothing waited and there is no session', [0, false, false], null, undefined, 1],
  ['a turn waited: the session too', [1, false, false], { status: 'completed' }, undefined, 1],
  ['a turn waited, for a new session', [1, false, false], null, undefined, 0],
  ['the one turn waited: it alone', [1, false, false], { status: 'completed' }, 't', 0],
  ['the one turn had begun: its session', [1, true, false], { status: 'completed' }, 't', 1],
  ['the one turn had begun and is over', [0, true, false], { status: 'completed' }, 't', 1],
])('when %s is aborted', async (...given) => {
  const [, look, session, turnId, expected] = given
  const { abort, aborts, asked } = worldOf([look], session)
  await abort(turnId)
  expect(aborts()).toBe(expected)
  expect(asked).toEqual([['s', turnId]])
})

test('a turn that a worker has claimed is looked at each 100 ms, until it runs', async () => {
  const running = { status: 'running', leaseUntil: 1200 } as Record<string, unknown>
  const session: Record<string, unknown> = { status: 'idle' }
  const { abort, aborts, clock, asked } = worldOf(
    [
      [0, false, true],
      [0, false, true],
      [0, false, true],
    ],
    session,
  )
  const aborting = abort()
  await clock.advance(99)
  expect([asked.length, aborts()]).toEqual([1, 0])
  await clock.advance(1)
  expect([asked.length, aborts()]).toEqual([2, 0])
  Object.assign(session, running)
  await clock.advance(99)
  await clock.advance(1)
  // Its lease ends now: it does not run.
  expect([asked.length, aborts()]).toEqual([3, 0])
  Object.assign(session, { leaseUntil: 1301 })
  await clock.advance(100)
  await aborting
  expect(aborts()).toBe(1)
})

test('one that runs without a lease is looked at again; what one look has cancelled counts at the end', async () => {
  const { abort, aborts, clock, asked } = worldOf(
    [
      [1, false, true],
      [0, false, false],
    ],
    { status: 'running' },
  )
  const aborting = abort('t')
  await clock.advance(100)
  await aborting
  expect([asked.length, aborts()]).toEqual([2, 0])
})
