import type { SessionStateStore } from '@helix-agents/core/runtime'
import { check, equal, rejectsWithCode } from '../assert.ts'
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
  resultOf,
  START,
  userMessage,
} from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

/** Ids that a careless key scheme mixes up. */
const ALIKE = [
  'a',
  'A',
  'a/b',
  'a:b',
  'a%',
  'a_',
  "a'b",
  '\u00e4',
  'a\u0308',
  '__proto__',
  'constructor',
]

export const sessionBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/session/starts-idle-and-empty',
    run: async ({ store }) => {
      const head = await store.createSession(newSession({ customState: { n: 1 } }))
      equal([head.sessionId, head.agentType, head.status], ['session', 'agent', 'idle'])
      equal(
        [head.stepCount, head.messageCount, head.createdAt, head.updatedAt],
        [0, 0, START, START],
      )
      equal([head.customState, head.workspaceRefs, head.fileLedgers], [{ n: 1 }, {}, {}])
      equal([head.runId, head.output, head.error], [undefined, undefined, undefined])
      equal(await contentsOf(store), [])
    },
  },
  {
    id: 'store/session/keeps-labels-and-parent',
    run: async ({ store }) => {
      const labels = { userId: 'u', tags: ['x', 'y'], metadata: { plan: { tier: 2 } } }
      await store.createSession(newSession({ ...labels, parentSessionId: 'parent' }))
      const { userId, tags, metadata, parentSessionId } = await headOf(store)
      equal([userId, tags, metadata, parentSessionId], ['u', ['x', 'y'], labels.metadata, 'parent'])
    },
  },
  {
    id: 'store/session/branch-starts-with-messages-and-refs',
    run: async ({ store }) => {
      const messages = [userMessage('one'), userMessage('two')]
      await store.createSession(newSession({ messages, workspaceRefs: { box: refTo('w') } }))
      equal(await contentsOf(store), ['one', 'two'])
      const head = await headOf(store)
      equal([head.messageCount, head.workspaceRefs], [2, { box: refTo('w') }])
    },
  },
  {
    id: 'store/session/custom-state-round-trip',
    run: async ({ store }) => {
      const states = [
        null,
        0,
        '',
        'é\u{1F600}\u0000',
        [1, [2, null]],
        { a: { b: [true] } },
        undefined,
      ]
      for (const [index, customState] of states.entries()) {
        const sessionId = `s${index}`
        await store.createSession(newSession({ sessionId, customState }))
        equal([(await headOf(store, sessionId)).customState], [customState])
        // An array's JSON does not tell `undefined` from `null`.
        check(
          (customState === undefined) ===
            ((await headOf(store, sessionId)).customState === undefined),
          'an absent state to stay absent',
        )
      }
    },
  },
  {
    id: 'store/session/existing-is-a-conflict',
    run: async ({ store }) => {
      await store.createSession(newSession({ customState: 'first' }))
      await rejectsWithCode('conflict', () =>
        store.createSession(newSession({ customState: 'second' })),
      )
      equal((await headOf(store)).customState, 'first')
    },
  },
  {
    id: 'store/session/unknown-loads-as-null',
    run: async ({ store }) => equal(await store.loadSession('nobody'), null),
  },
  {
    id: 'store/session/unknown-is-not-found',
    run: async ({ store }) => {
      for (const call of callsOn('nobody', store)) await rejectsWithCode('not-found', call)
    },
  },
  {
    id: 'store/session/keeps-sessions-apart',
    run: async ({ store }) => {
      for (const sessionId of ALIKE) {
        const run = await createAndBegin(store, { sessionId, runId: 'same-run' })
        await run.append(`of ${sessionId}`)
      }
      for (const sessionId of ALIKE) equal(await contentsOf(store, sessionId), [`of ${sessionId}`])
    },
  },
  {
    id: 'store/session/version-rises-by-one-with-each-change',
    run: async ({ store }) => {
      await store.createSession(newSession())
      let { version } = await headOf(store)
      const rises = async (change: Promise<unknown>): Promise<void> => {
        await change
        equal((await headOf(store)).version, ++version)
      }
      await rises(
        store.beginRun({ sessionId: 'session', runId: 'r', now: START, leaseMs: LEASE_MS }),
      )
      const write = { sessionId: 'session', runId: 'r', now: START + 1 }
      await rises(store.appendMessages({ ...write, messages: [userMessage('a')] }))
      await rises(store.saveWorkspaceRef({ ...write, workspace: 'box', ref: refTo('w') }))
      await rises(store.beginStep({ ...write, messages: [], journal: [journaled('c')] }))
      const result = resultOf('c')
      await rises(store.completeToolCall({ ...write, toolCallId: 'c', result }))
      await rises(store.commitStep({ ...write, messages: [], checkpointId: 'cp' }))
      await rises(store.endRun({ ...write, status: 'completed' }))
      await rises(store.restoreCheckpoint('session', 'cp', START + 2))
    },
  },
  {
    id: 'store/session/updated-at-follows-the-writes',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await store.appendMessages({ ...run.write(), now: START + 500, messages: [] })
      const head = await headOf(store)
      equal([head.createdAt, head.updatedAt], [START, START + 500])
    },
  },
  {
    id: 'store/session/delete-removes-everything',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.step('one')
      await store.beginStep({ ...run.write(), messages: [], journal: [journaled('c')] })
      await store.deleteSession('session')
      equal(await store.loadSession('session'), null)
      equal((await store.listSessions()).items.length, 0)
      await rejectsWithCode('not-found', () => run.append('late'))
      await store.createSession(newSession())
      equal(await contentsOf(store), [])
      equal(await store.loadJournal('session'), [])
      equal(await store.listRuns('session'), [])
      equal((await store.listCheckpoints('session')).items, [])
      await beginRun(store)
    },
  },
  {
    id: 'store/session/delete-unknown-does-nothing',
    run: async ({ store }) => {
      await store.createSession(newSession())
      await store.deleteSession('nobody')
      equal((await headOf(store)).sessionId, 'session')
    },
  },
]

/** Every method that needs a session, on one that is not there. */
function callsOn(sessionId: string, store: SessionStateStore): readonly (() => Promise<unknown>)[] {
  const write = { sessionId, runId: 'r', now: START }
  const message = { role: 'tool', toolCallId: 'c', toolName: 't', content: '' } as const
  return [
    () => store.loadMessages(sessionId),
    () => store.beginRun({ ...write, leaseMs: LEASE_MS }),
    () => store.renewRun({ ...write, leaseMs: LEASE_MS }),
    () => store.endRun({ ...write, status: 'completed' }),
    () => store.listRuns(sessionId),
    () => store.appendMessages({ ...write, messages: [] }),
    () => store.beginStep({ ...write, messages: [], journal: [] }),
    () =>
      store.completeToolCall({ ...write, toolCallId: 'c', result: { message, endedAt: START } }),
    () => store.commitStep({ ...write, messages: [], checkpointId: 'cp' }),
    () => store.loadJournal(sessionId),
    () => store.saveWorkspaceRef({ ...write, workspace: 'box', ref: null }),
    () => store.listCheckpoints(sessionId),
    () => store.getCheckpoint(sessionId, 'cp'),
    () => store.restoreCheckpoint(sessionId, 'cp', START),
  ]
}
