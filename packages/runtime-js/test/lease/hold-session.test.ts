// A session that does not run is held while something is done with it, and stands afterwards as it should.
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import type { StoredOutcome } from '@helix-agents/core/runtime'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test, vi } from 'vitest'
import { holdSession } from '../../src/lease/hold-session.ts'
import type { RunServices } from '../../src/ports.ts'

const dead = { sessionId: 's', runId: 'dead', now: 0 }
const error = { code: 'x', message: 'y' }

async function worldOf(end?: StoredOutcome & { readonly owed?: readonly string[] }) {
  const [stateStore, clock, logger] = [
    new InMemoryStateStore(),
    new ManualClock(1000),
    new RecordingLogger(),
  ]
  await stateStore.createSession({ ...dead, agentType: 'a', customState: undefined })
  if (end !== undefined) {
    await stateStore.beginRun({ ...dead, leaseMs: 1 })
    await stateStore.endRun({ ...dead, ...end })
  }
  const services = { stateStore, clock, logger, leaseMs: 300 } as unknown as RunServices
  const load = async () => (await stateStore.loadSession('s'))!
  return { services, stateStore, clock, load }
}

test.each<readonly [StoredOutcome & { readonly owed?: readonly string[] }]>([
  [{ status: 'completed', output: { a: 1 } }],
  [{ status: 'completed' }],
  [{ status: 'failed', error }],
  [{ status: 'interrupted', error }],
  [{ status: 'waiting' }],
  [{ status: 'aborted', owed: ['box'] }],
])('it stands as before: %j', async (end) => {
  const { services, load, stateStore } = await worldOf(end)
  const endRun = vi.spyOn(stateStore, 'endRun')
  const held: unknown[] = []
  const result = await holdSession(services, 's', {
    work: async ({ session, lease }) => {
      held.push(session.status, lease.expiresAt, (await load()).leaseUntil)
      return 'done'
    },
  })
  expect(result).toBe('done')
  expect(held).toEqual([end.status, 1300, 1300])
  const { status, output, owed, leaseUntil, error: failure } = await load()
  const now = JSON.parse(JSON.stringify({ status, output, error: failure, owed })) as object
  expect([now, leaseUntil]).toEqual([end, undefined])
  const [write] = endRun.mock.calls[0]!
  expect(Object.keys(write).toSorted()).toEqual(
    ['sessionId', 'runId', 'now', ...Object.keys(end)].toSorted(),
  )
})

test('one that never ran, or whose process died, is interrupted; one that was decided is as decided', async () => {
  const never = await worldOf()
  await holdSession(never.services, 's', { work: async () => {} })
  expect((await never.load()).status).toBe('interrupted')
  const died = await worldOf()
  await died.stateStore.beginRun({ ...dead, leaseMs: 1 })
  await holdSession(died.services, 's', { work: async () => {} })
  expect((await died.load()).status).toBe('interrupted')
  const decided = await worldOf()
  await decided.stateStore.beginRun({ ...dead, leaseMs: 1 })
  const outcome = { status: 'completed', output: 7 } as const
  await decided.stateStore.commitStep({ ...dead, messages: [], checkpointId: 'c', outcome })
  await holdSession(decided.services, 's', { work: async () => {} })
  expect(await decided.load()).toMatchObject(outcome)
})

test('it stands as the work says, which knows how it stood', async () => {
  const { services, load } = await worldOf({ status: 'failed', error })
  const befores: unknown[] = []
  await holdSession(services, 's', {
    work: async () => 3,
    end: (result, before) => {
      befores.push(result, before)
      return { status: 'aborted', owed: ['box'] }
    },
  })
  expect(befores).toEqual([3, { status: 'failed', error }])
  expect(await load()).toMatchObject({ status: 'aborted', owed: ['box'] })
})

test('one that is gone afterwards is not ended', async () => {
  const { services, stateStore } = await worldOf({ status: 'completed' })
  const endRun = vi.spyOn(stateStore, 'endRun')
  await holdSession(services, 's', { work: () => stateStore.deleteSession('s'), end: () => null })
  expect(endRun).not.toHaveBeenCalled()
})

test('it is held again and again while the work takes its time, and not after that', async () => {
  const { services, clock, load } = await worldOf({ status: 'completed' })
  await holdSession(services, 's', {
    work: async () => {
      await clock.advance(250)
      expect((await load()).leaseUntil).toBe(1500)
    },
  })
  expect(clock.pendingTimers).toBe(0)
})

test('work that fails leaves it as it was', async () => {
  const { services, clock, load } = await worldOf({ status: 'completed', output: 1 })
  const failing = holdSession(services, 's', {
    work: () => Promise.reject(new Error('no')),
    end: () => null,
  })
  await expect(failing).rejects.toThrow('no')
  expect(await load()).toMatchObject({ status: 'completed', output: 1 })
  expect((await load()).leaseUntil).toBeUndefined()
  expect(clock.pendingTimers).toBe(0)
})

test('one that another process holds is not held', async () => {
  const { services, stateStore } = await worldOf()
  await stateStore.beginRun({ ...dead, now: 1000, leaseMs: 10 })
  const work = vi.fn<() => Promise<void>>()
  await expect(holdSession(services, 's', { work })).rejects.toMatchObject({
    code: 'already-running',
  })
  expect(work).not.toHaveBeenCalled()
})
