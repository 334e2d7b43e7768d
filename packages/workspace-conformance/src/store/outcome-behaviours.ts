import type { SessionStateStore, StoredOutcome } from '@helix-agents/core/runtime'
import { check, equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  beginRun,
  createAndBegin,
  headOf,
  journaled,
  LEASE_MS,
  refTo,
  type ScriptedRun,
  START,
  userMessage,
} from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

const DONE: StoredOutcome = { status: 'completed', output: { poem: ['x', null] } }

export const outcomeBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/outcome/is-stored-with-its-step',
    run: async ({ store }) => {
      const { head } = await decided(store)
      equal(head.outcome, DONE)
      equal([head.status, head.output, head.stepCount], ['running', undefined, 1])
      const next = await createAndBegin(store, { sessionId: 'undecided' })
      await next.step('one')
      equal((await headOf(store, 'undecided')).outcome, undefined)
    },
  },
  {
    id: 'store/outcome/keeps-every-kind',
    run: async ({ store }) => {
      const error = { code: 'output-missing', message: 'no output' }
      const kinds: readonly StoredOutcome[] = [
        { status: 'completed' },
        { status: 'completed', output: null },
        { status: 'completed', output: '' },
        { status: 'failed', error },
        { status: 'interrupted' },
        { status: 'aborted' },
      ]
      const run = await createAndBegin(store)
      for (const outcome of kinds) {
        await run.step('one', { outcome })
        const stored = (await headOf(store)).outcome
        equal([stored?.status, stored?.error?.code], [outcome.status, outcome.error?.code])
        equal(stored?.error?.message, outcome.error?.message)
        // An array's JSON does not tell `undefined` from `null`.
        check(stored?.output === outcome.output, 'the output to stay what it was')
      }
    },
  },
  {
    id: 'store/outcome/outlives-its-run',
    run: async ({ store }) => {
      const { run } = await decided(store)
      await store.renewRun({ ...run.write(), leaseMs: LEASE_MS })
      await store.saveWorkspaceRef({ ...run.write(), workspace: 'box', ref: refTo('w') })
      const next = { runId: 'run-2', now: START + 2 * LEASE_MS }
      const begun = await store.beginRun({ sessionId: 'session', leaseMs: LEASE_MS, ...next })
      equal(begun.outcome, DONE)
      const head = await headOf(store)
      equal([head.outcome, head.status], [DONE, 'running'])
    },
  },
  {
    id: 'store/outcome/ends-with-the-run',
    run: async ({ store }) => {
      const { run } = await decided(store)
      const ended = await run.end('completed', { output: 'other' })
      equal([ended.outcome, ended.output], [undefined, 'other'])
      await beginRun(store, { runId: 'run-2' })
      equal((await headOf(store)).outcome, undefined)
    },
  },
  {
    id: 'store/outcome/a-message-clears-it',
    run: async ({ store }) => {
      const { run } = await decided(store)
      await run.append('and now?')
      equal((await headOf(store)).outcome, undefined)
    },
  },
  {
    id: 'store/outcome/a-step-clears-it',
    run: async ({ store }) => {
      const begun = await decided(store)
      await store.beginStep({ ...begun.run.write(), messages: [], journal: [journaled('c')] })
      equal((await headOf(store)).outcome, undefined)
      const committed = await decided(store, 'other')
      await store.commitStep({ ...committed.run.write(), messages: [], checkpointId: 'cp-2' })
      equal((await headOf(store, 'other')).outcome, undefined)
    },
  },
  {
    id: 'store/outcome/restoring-clears-it',
    run: async ({ store }) => {
      const { checkpointId } = await decided(store)
      const restored = await store.restoreCheckpoint('session', checkpointId, START + LEASE_MS)
      equal([restored.outcome, restored.status], [undefined, 'interrupted'])
      equal((await headOf(store)).outcome, undefined)
    },
  },
  {
    id: 'store/outcome/is-fenced',
    run: async ({ store }) => {
      const old = await createAndBegin(store)
      await beginRun(store, { runId: 'run-2', now: START + LEASE_MS })
      const messages = [userMessage('late')]
      await rejectsWithCode('conflict', () =>
        store.commitStep({ ...old.write(), messages, checkpointId: 'cp', outcome: DONE }),
      )
      equal((await headOf(store)).outcome, undefined)
    },
  },
]

interface Decided {
  readonly run: ScriptedRun
  readonly checkpointId: string
  readonly head: Awaited<ReturnType<typeof headOf>>
}

/** A run whose first step decided how it ends, and which has not ended. */
async function decided(store: SessionStateStore, sessionId = 'session'): Promise<Decided> {
  const run = await createAndBegin(store, { sessionId })
  const checkpointId = await run.step('one', { outcome: DONE })
  return { run, checkpointId, head: await headOf(store, sessionId) }
}
