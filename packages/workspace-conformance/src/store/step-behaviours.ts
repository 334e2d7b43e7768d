import { equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  beginRun,
  contentsOf,
  createAndBegin,
  headOf,
  journaled,
  LEASE_MS,
  ledger,
  newSession,
  refTo,
  resultOf,
  START,
  userMessage,
} from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

export const stepBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/step/begin-stores-messages-and-journal',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      const journal = [journaled('b'), journaled('a'), journaled('c')]
      await store.beginStep({ ...write(), messages: [userMessage('plan')], journal })
      equal(await contentsOf(store), ['plan'])
      const stored = await store.loadJournal('session')
      equal(
        stored.map((entry) => [entry.toolCallId, entry.toolName, entry.arguments, entry.startedAt]),
        ['b', 'a', 'c'].map((id) => [id, 'write', { path: id }, START]),
      )
      equal((await headOf(store)).stepCount, 0)
    },
  },
  {
    id: 'store/step/result-of-a-call-is-recorded-at-once',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      const journal = [journaled('a'), journaled('b')]
      await store.beginStep({ ...write(), messages: [], journal })
      await store.completeToolCall({ ...write(), toolCallId: 'b', result: resultOf('b') })
      const [a, b] = await store.loadJournal('session')
      equal([a?.toolCallId, a?.result], ['a', undefined])
      equal([b?.toolCallId, b?.result?.message.content], ['b', 'result of b'])
      equal(b?.result?.endedAt, START + 7)
    },
  },
  {
    id: 'store/step/unknown-call-is-not-found',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      await store.beginStep({ ...write(), messages: [], journal: [journaled('a')] })
      await rejectsWithCode('not-found', () =>
        store.completeToolCall({ ...write(), toolCallId: 'x', result: resultOf('x') }),
      )
    },
  },
  {
    id: 'store/step/commit-stores-all-at-once',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      await store.beginStep({
        ...write(),
        messages: [userMessage('plan')],
        journal: [journaled('a')],
      })
      const box = { known: { agent: { '/a': { version: '1' } } }, writers: {} }
      await store.commitStep({
        ...write(),
        messages: [userMessage('result')],
        customState: { value: { n: 1 } },
        fileLedgers: { box },
        checkpointId: 'cp',
      })
      equal(await contentsOf(store), ['plan', 'result'])
      const head = await headOf(store)
      equal([head.stepCount, head.messageCount, head.customState], [1, 2, { n: 1 }])
      equal(head.fileLedgers['box'], box)
      equal((await store.getCheckpoint('session', 'cp'))?.messageCount, 2)
      equal(await store.loadJournal('session'), [])
    },
  },
  {
    id: 'store/step/commit-keeps-what-did-not-change',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      const first = {
        customState: { value: 'kept' },
        fileLedgers: { a: ledger('1'), b: ledger('1') },
      }
      await store.commitStep({ ...write(), messages: [], checkpointId: '1', ...first })
      const second = { fileLedgers: { b: ledger('2') } }
      await store.commitStep({ ...write(), messages: [], checkpointId: '2', ...second })
      const { customState, fileLedgers } = await headOf(store)
      equal([customState, fileLedgers['a'], fileLedgers['b']], ['kept', ledger('1'), ledger('2')])
    },
  },
  {
    id: 'store/step/commit-can-clear-the-state',
    run: async ({ store }) => {
      await store.createSession(newSession({ customState: { n: 1 } }))
      const run = await beginRun(store)
      await run.step('one', { customState: { value: undefined } })
      equal((await headOf(store)).customState, undefined)
    },
  },
  {
    id: 'store/step/journal-outlives-its-run',
    run: async ({ store }) => {
      const old = await createAndBegin(store)
      const journal = [journaled('a'), journaled('b')]
      await store.beginStep({ ...old.write(), messages: [], journal })
      await store.completeToolCall({ ...old.write(), toolCallId: 'a', result: resultOf('a') })
      const next = await beginRun(store, { runId: 'run-2', now: START + LEASE_MS })
      const [a, b] = await store.loadJournal('session')
      equal([a?.result?.message.content, b?.result], ['result of a', undefined])
      await next.end('interrupted')
      equal((await store.loadJournal('session')).length, 2)
    },
  },
  {
    id: 'store/step/begin-starts-a-new-journal',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      await store.beginStep({ ...write(), messages: [], journal: [journaled('a')] })
      await store.beginStep({ ...write(), messages: [], journal: [journaled('b')] })
      equal(
        (await store.loadJournal('session')).map((entry) => entry.toolCallId),
        ['b'],
      )
    },
  },
  {
    id: 'store/step/concurrent-results-are-all-kept',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      const ids = Array.from({ length: 10 }, (_, index) => `c${index}`)
      await store.beginStep({ ...write(), messages: [], journal: ids.map(journaled) })
      const complete = (id: string): Promise<void> =>
        store.completeToolCall({ ...write(), toolCallId: id, result: resultOf(id) })
      await Promise.all(ids.toReversed().map(complete))
      const stored = await store.loadJournal('session')
      equal(
        stored.map((entry) => entry.result?.message.content),
        ids.map((id) => `result of ${id}`),
      )
    },
  },
  {
    id: 'store/ref/is-there-before-any-step',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      const ref = { ...refTo('w'), ref: { id: 'w', nested: [1, { ü: null }] } }
      await store.saveWorkspaceRef({ ...write(), workspace: 'box', ref })
      equal((await headOf(store)).workspaceRefs['box']?.ref, ref.ref)
      equal((await headOf(store)).workspaceRefs['box']?.capabilities, { fs: true })
    },
  },
  {
    id: 'store/ref/is-replaced-and-removed-alone',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      await store.saveWorkspaceRef({ ...write(), workspace: 'a', ref: refTo('1') })
      await store.saveWorkspaceRef({ ...write(), workspace: 'b', ref: refTo('2') })
      await store.saveWorkspaceRef({ ...write(), workspace: 'a', ref: refTo('3') })
      const { workspaceRefs } = await headOf(store)
      equal([workspaceRefs['a'], workspaceRefs['b']], [refTo('3'), refTo('2')])
      await store.saveWorkspaceRef({ ...write(), workspace: 'a', ref: null })
      await store.saveWorkspaceRef({ ...write(), workspace: 'never', ref: null })
      equal((await headOf(store)).workspaceRefs, { b: refTo('2') })
    },
  },
  {
    id: 'store/ref/outlives-the-run',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await store.saveWorkspaceRef({ ...run.write(), workspace: 'box', ref: refTo('w') })
      await run.end()
      await beginRun(store, { runId: 'run-2' })
      equal((await headOf(store)).workspaceRefs, { box: refTo('w') })
    },
  },
]
