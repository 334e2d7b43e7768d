import { equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  beginRun,
  contentsOf,
  createAndBegin,
  headOf,
  journaled,
  LEASE_MS,
  newSession,
  refTo,
  type ScriptedRun,
  START,
  userMessage,
} from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'
import type { SessionStateStore } from '@helix-agents/core/runtime'

export const runBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/run/begin-makes-it-running',
    run: async ({ store }) => {
      await store.createSession(newSession())
      const start = { sessionId: 'session', runId: 'r', now: START + 5, leaseMs: LEASE_MS }
      const head = await store.beginRun(start)
      equal([head.status, head.runId, head.updatedAt], ['running', 'r', START + 5])
      equal((await headOf(store)).status, 'running')
    },
  },
  {
    id: 'store/run/one-at-a-time',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await rejectsWithCode('already-running', () => beginRun(store, { runId: 'run-2' }))
      await run.append('still mine')
      equal(await contentsOf(store), ['still mine'])
    },
  },
  {
    id: 'store/run/one-of-many-concurrent-wins',
    run: async ({ store }) => {
      await store.createSession(newSession())
      const ids = Array.from({ length: 10 }, (_, index) => `run-${index}`)
      const attempts = await Promise.allSettled(ids.map((runId) => beginRun(store, { runId })))
      const won = attempts.filter((attempt) => attempt.status === 'fulfilled')
      equal(won.length, 1)
      for (const attempt of attempts.filter((one) => one.status === 'rejected')) {
        await rejectsWithCode('already-running', () => Promise.reject(attempt.reason))
      }
      equal((await headOf(store)).runId, won[0]?.value.runId)
    },
  },
  {
    id: 'store/run/lease-ends-on-time',
    run: async ({ store }) => {
      await createAndBegin(store)
      const attempt = (ms: number): Promise<ScriptedRun> =>
        beginRun(store, { runId: 'run-2', now: START + ms })
      await rejectsWithCode('already-running', () => attempt(LEASE_MS - 1))
      await attempt(LEASE_MS)
    },
  },
  {
    id: 'store/run/renew-prolongs-the-lease',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      await store.renewRun({ ...write(), now: START + 20_000, leaseMs: LEASE_MS })
      const attempt = (now: number): Promise<ScriptedRun> =>
        beginRun(store, { runId: 'run-2', now })
      await rejectsWithCode('already-running', () => attempt(START + 20_000 + LEASE_MS - 1))
      await attempt(START + 20_000 + LEASE_MS)
    },
  },
  {
    id: 'store/run/reports-until-when-it-is-held',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      equal((await headOf(store)).leaseUntil, START + LEASE_MS)
      await store.renewRun({ ...run.write(), now: START + 20_000, leaseMs: LEASE_MS })
      equal((await headOf(store)).leaseUntil, START + 20_000 + LEASE_MS)
      equal((await run.end()).leaseUntil, undefined)
    },
  },
  {
    id: 'store/run/end-keeps-what-is-owed-until-the-next',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const { write } = run
      await store.saveWorkspaceRef({ ...write(), workspace: 'box', ref: refTo('w') })
      equal((await run.end('completed', { owed: ['box'] })).owed, ['box'])
      equal((await headOf(store)).owed, ['box'])
      const next = await beginRun(store, { runId: 'run-2' })
      equal((await headOf(store)).owed, undefined)
      equal((await next.end()).owed, undefined)
    },
  },
  {
    id: 'store/run/remembers-whether-workspaces-outlive-it',
    run: async ({ store }) => {
      const keepsOf = async () => (await headOf(store)).keepWorkspaces
      await (await createAndBegin(store)).end()
      equal(await keepsOf(), undefined)
      const told = [true, undefined, false, undefined]
      const expected = [true, true, false, false]
      for (const [index, keepWorkspaces] of told.entries()) {
        const runId = `further-${index}`
        const more = keepWorkspaces === undefined ? {} : { keepWorkspaces }
        const start = {
          sessionId: 'session',
          runId,
          leaseMs: LEASE_MS,
          now: START + index,
          ...more,
        }
        const head = await store.beginRun(start)
        await store.endRun({ ...start, status: 'completed' })
        equal([head.keepWorkspaces, await keepsOf()], [expected[index], expected[index]])
      }
    },
  },
  {
    id: 'store/run/late-one-continues-without-a-successor',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      const late = { ...write(), now: START + 10 * LEASE_MS }
      await store.renewRun({ ...late, leaseMs: LEASE_MS })
      await store.appendMessages({ ...late, messages: [userMessage('late')] })
      equal(await contentsOf(store), ['late'])
    },
  },
  {
    id: 'store/run/fences-the-one-before',
    run: async ({ store }) => {
      const old = await createAndBegin(store)
      const next = await beginRun(store, { runId: 'run-2', now: START + LEASE_MS })
      await store.beginStep({ ...next.write(), messages: [], journal: [journaled('c')] })
      const before = await headOf(store)
      for (const call of writesOf(old, store)) await rejectsWithCode('conflict', call)
      equal((await headOf(store)).version, before.version)
      equal(await contentsOf(store), [])
      equal((await store.loadJournal('session'))[0]?.result, undefined)
      await next.append('mine')
    },
  },
  {
    id: 'store/run/records-an-abandoned-one-as-interrupted',
    run: async ({ store }) => {
      const old = await createAndBegin(store)
      await old.step('one')
      await beginRun(store, { runId: 'run-2', now: START + LEASE_MS })
      const [first, second] = await store.listRuns('session')
      equal([first?.status, first?.stepCount], ['interrupted', 1])
      equal(first?.endedAt, START + LEASE_MS)
      equal([second?.status, second?.stepCount], ['running', 0])
    },
  },
  {
    id: 'store/run/end-releases-the-session',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.end()
      for (const call of writesOf(run, store)) await rejectsWithCode('conflict', call)
      await beginRun(store, { runId: 'run-2' })
    },
  },
  {
    id: 'store/run/end-keeps-output-and-error-until-the-next',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const ended = await run.end('completed', { output: { poem: ['x', null] } })
      equal(
        [ended.status, ended.output, ended.error],
        ['completed', { poem: ['x', null] }, undefined],
      )
      const second = await beginRun(store, { runId: 'run-2' })
      const running = await headOf(store)
      equal([running.output, running.error], [undefined, undefined])
      await second.end('failed', { error: { code: 'max-steps', message: 'too long' } })
      const failed = await headOf(store)
      equal([failed.status, failed.output], ['failed', undefined])
      equal([failed.error?.code, failed.error?.message], ['max-steps', 'too long'])
    },
  },
  {
    id: 'store/run/every-end-status',
    run: async ({ store }) => {
      await store.createSession(newSession())
      for (const status of ['interrupted', 'completed', 'failed', 'aborted'] as const) {
        const run = await beginRun(store, { runId: status })
        equal((await run.end(status)).status, status)
        equal((await headOf(store)).status, status)
      }
    },
  },
  {
    id: 'store/run/id-is-used-once',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.end()
      await rejectsWithCode('conflict', () => beginRun(store))
    },
  },
  {
    id: 'store/run/begins-only-at-the-version-that-was-read',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const { version } = await headOf(store)
      await run.end()
      const start = { sessionId: 'session', runId: 'run-2', leaseMs: LEASE_MS, now: START + 10 }
      await rejectsWithCode('conflict', () => store.beginRun({ ...start, version }))
      const ended = await headOf(store)
      equal(ended.status, 'completed')
      equal((await store.beginRun({ ...start, version: ended.version })).status, 'running')
    },
  },
  {
    id: 'store/run/records-are-oldest-first',
    run: async ({ store }) => {
      const first = await createAndBegin(store)
      await first.step('one')
      await first.step('two')
      await first.end()
      const second = await beginRun(store, { runId: 'run-2', now: START + 100 })
      await second.step('three')
      const one = ['session', 'run-1', 1, 'completed', 2, 0, 3]
      equal(await recordsOf(store), [one, ['session', 'run-2', 2, 'running', 1, 100, undefined]])
      await second.end('failed')
      const two = ['session', 'run-2', 2, 'failed', 1, 100, 102]
      equal(await recordsOf(store), [one, two])
      await (await beginRun(store, { runId: 'run-3', now: START + 200 })).end()
      const three = ['session', 'run-3', 3, 'completed', 0, 200, 201]
      equal(await recordsOf(store), [one, two, three])
    },
  },
]

/** The runs of the session, with times since its start. */
async function recordsOf(store: SessionStateStore): Promise<readonly unknown[]> {
  return (await store.listRuns('session')).map((run) => [
    run.sessionId,
    run.runId,
    run.turn,
    run.status,
    run.stepCount,
    run.startedAt - START,
    run.endedAt === undefined ? undefined : run.endedAt - START,
  ])
}

/** Every write of a run. */
function writesOf(run: ScriptedRun, store: SessionStateStore): readonly (() => Promise<unknown>)[] {
  const message = { role: 'tool', toolCallId: 'c', toolName: 't', content: '' } as const
  const result = { message, endedAt: START }
  const messages = [userMessage('stale')]
  return [
    () => store.appendMessages({ ...run.write(), messages }),
    () => store.beginStep({ ...run.write(), messages, journal: [] }),
    () => store.completeToolCall({ ...run.write(), toolCallId: 'c', result }),
    () => store.commitStep({ ...run.write(), messages, checkpointId: 'cp' }),
    () => store.saveWorkspaceRef({ ...run.write(), workspace: 'box', ref: refTo('w') }),
    () => store.renewRun({ ...run.write(), leaseMs: LEASE_MS }),
    () => store.endRun({ ...run.write(), status: 'failed' }),
  ]
}
