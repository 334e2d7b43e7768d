import type { SessionState, SessionStateStore } from '@helix-agents/core/runtime'
import { equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  beginRun,
  createAndBegin,
  headOf,
  LEASE_MS,
  newSession,
  refTo,
  START,
} from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

const DONE = { output: { poem: 'x' }, owed: ['box'] } as const

export const holdBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/hold/changes-nothing-else',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.step('one')
      const before = await run.end('completed', DONE)
      const held = await hold(store)
      equal([held.status, held.leaseUntil], ['completed', START + LEASE_MS])
      for (const head of [held, await headOf(store)]) equal(standingOf(head), standingOf(before))
      equal((await store.listRuns('session')).length, 1)
    },
  },
  {
    id: 'store/hold/keeps-runs-away-until-its-lease-ends',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.end('completed', DONE)
      await hold(store)
      const late = START + LEASE_MS
      await rejectsWithCode('already-running', () => beginRun(store, { runId: 'run-2' }))
      await rejectsWithCode('already-running', () => hold(store, 'hold-2', late - 1))
      await hold(store, 'hold-2', late)
      await store.renewRun({ ...write('hold-2', late), leaseMs: 2 * LEASE_MS })
      const attempt = (now: number): Promise<unknown> => beginRun(store, { runId: 'run-2', now })
      await rejectsWithCode('already-running', () => attempt(late + 2 * LEASE_MS - 1))
      await attempt(late + 2 * LEASE_MS)
      equal((await store.listRuns('session')).length, 2)
    },
  },
  {
    id: 'store/hold/writes-and-says-how-it-stands-afterwards',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await store.saveWorkspaceRef({ ...run.write(), workspace: 'box', ref: refTo('w') })
      const { runId } = await run.end('completed', DONE)
      await hold(store)
      const held = write('hold-1', START + 10)
      await store.saveWorkspaceRef({ ...held, workspace: 'box', ref: null })
      const ended = await store.endRun({ ...held, status: 'completed', output: DONE.output })
      equal([ended.status, ended.output, ended.runId], ['completed', DONE.output, runId])
      equal([ended.workspaceRefs, ended.owed, ended.leaseUntil], [{}, undefined, undefined])
      const [record, ...more] = await store.listRuns('session')
      equal([record?.status, more.length], ['completed', 0])
    },
  },
  {
    id: 'store/hold/fences-a-run-that-was-given-up',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.append('mine')
      const late = START + LEASE_MS
      const held = await hold(store, 'hold-1', late)
      equal([held.status, held.runId], ['running', 'run-1'])
      await rejectsWithCode('conflict', () => run.append('late'))
      const ended = await store.endRun({ ...write('hold-1', late + 1), status: 'aborted' })
      equal([ended.status, ended.runId], ['aborted', 'run-1'])
      const [record] = await store.listRuns('session')
      equal([record?.status, record?.endedAt], ['aborted', late + 1])
    },
  },
  {
    id: 'store/hold/of-a-session-without-a-run',
    run: async ({ store }) => {
      await store.createSession(newSession())
      equal((await hold(store)).status, 'idle')
      const ended = await store.endRun({ ...write('hold-1', START + 1), status: 'aborted' })
      equal([ended.status, ended.runId], ['aborted', undefined])
      equal(await store.listRuns('session'), [])
    },
  },
]

function standingOf(head: SessionState): readonly unknown[] {
  const { status, runId, version, updatedAt, output, owed, stepCount } = head
  return [status, runId, version, updatedAt, output, owed, stepCount]
}

function hold(store: SessionStateStore, runId = 'hold-1', now = START) {
  return store.beginRun({ sessionId: 'session', runId, now, leaseMs: LEASE_MS, hold: true })
}

function write(runId: string, now: number) {
  return { sessionId: 'session', runId, now }
}
