import type { SessionStateStore } from '@helix-agents/core/runtime'
import { check, equal, equalBytes, patternBytes, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { HOSTILE_TEXTS, HOSTILE_VALUES } from './hostile-behaviours.ts'
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
import { used } from './usage-behaviours.ts'
import type { StoreSubject } from './store-subject.ts'

export const durableBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/durable/steps-survive',
    needs: ['durable'],
    run: async (subject) => {
      const run = await createAndBegin(subject.store)
      const { write } = run
      await subject.store.saveWorkspaceRef({ ...write(), workspace: 'box', ref: refTo('w') })
      const id = await run.step('one', { customState: { value: { n: 1 } } })
      await run.append('two')
      const before = await headOf(subject.store)
      const store = await reopened(subject)
      const after = await headOf(store)
      equal([after.version, after.status, after.runId], [before.version, 'running', 'run-1'])
      equal(
        [after.stepCount, after.customState, after.workspaceRefs],
        [1, { n: 1 }, { box: refTo('w') }],
      )
      equal(await contentsOf(store), ['one', 'two'])
      equal((await store.getCheckpoint('session', id))?.messageCount, 1)
    },
  },
  {
    id: 'store/durable/journal-survives',
    needs: ['durable'],
    run: async (subject) => {
      const { write } = await createAndBegin(subject.store)
      const journal = [journaled('a'), journaled('b')]
      await subject.store.beginStep({ ...write(), messages: [userMessage('plan')], journal })
      const message = { role: 'tool', toolCallId: 'a', toolName: 'write', content: 'done' } as const
      const result = { message, endedAt: START + 1 }
      await subject.store.completeToolCall({ ...write(), toolCallId: 'a', result })
      const [a, b] = await (await reopened(subject)).loadJournal('session')
      equal([a?.result?.message.content, b?.toolCallId, b?.result], ['done', 'b', undefined])
    },
  },
  {
    id: 'store/durable/claim-survives',
    needs: ['durable'],
    run: async (subject) => {
      const run = await createAndBegin(subject.store)
      const store = await reopened(subject)
      await rejectsWithCode('already-running', () =>
        beginRun(store, { runId: 'run-2', now: START + LEASE_MS - 1 }),
      )
      const next = await beginRun(store, { runId: 'run-2', now: START + LEASE_MS })
      await rejectsWithCode('conflict', () =>
        store.appendMessages({ ...run.write(), messages: [] }),
      )
      await next.append('mine')
    },
  },
  {
    id: 'store/durable/outcome-survives',
    needs: ['durable'],
    run: async (subject) => {
      const run = await createAndBegin(subject.store)
      const outcome = { status: 'completed', output: { poem: 'x' } } as const
      await run.step('one', { outcome })
      const store = await reopened(subject)
      equal((await headOf(store)).outcome, outcome)
      await beginRun(store, { runId: 'run-2', now: START + LEASE_MS })
      equal((await headOf(store)).outcome, outcome)
    },
  },
  {
    id: 'store/durable/usage-survives',
    needs: ['durable'],
    run: async (subject) => {
      const run = await createAndBegin(subject.store)
      await run.step('one', { usage: used(10) })
      equal((await headOf(await reopened(subject))).usage, used(10))
    },
  },
  {
    id: 'store/durable/state-of-a-recorded-call-survives',
    needs: ['durable'],
    run: async (subject) => {
      const { write } = await createAndBegin(subject.store)
      await subject.store.beginStep({ ...write(), messages: [], journal: [journaled('a')] })
      const result = { ...resultOf('a'), finish: { output: 'x' } }
      const fileLedgers = { box: ledger('1') }
      const change = { customState: { value: { n: 1 } }, fileLedgers }
      await subject.store.completeToolCall({ ...write(), toolCallId: 'a', result, ...change })
      const store = await reopened(subject)
      const head = await headOf(store)
      equal([head.customState, head.fileLedgers], [{ n: 1 }, fileLedgers])
      equal((await store.loadJournal('session'))[0]?.result?.finish, { output: 'x' })
    },
  },
  {
    id: 'store/durable/hostile-data-survives',
    needs: ['durable'],
    run: async (subject) => {
      const data = patternBytes(300).subarray(3)
      const file = { data, mediaType: 'image/png' }
      await subject.store.createSession(newSession())
      const run = await beginRun(subject.store)
      await run.append(...HOSTILE_TEXTS)
      const messages = [{ role: 'user', content: '', files: [file] } as const]
      const customState = { value: [...HOSTILE_VALUES] }
      await subject.store.commitStep({ ...run.write(), messages, customState, checkpointId: 'c' })
      const store = await reopened(subject)
      equal(await contentsOf(store), [...HOSTILE_TEXTS, ''])
      equal((await headOf(store)).customState, [...HOSTILE_VALUES])
      const last = (await store.loadMessages('session')).messages.at(-1)
      const stored = last?.role === 'user' ? last.files?.[0]?.data : undefined
      check(stored instanceof Uint8Array, 'bytes to stay bytes')
      equalBytes(stored, data)
    },
  },
]

async function reopened(subject: StoreSubject): Promise<SessionStateStore> {
  check(subject.reopen !== undefined, 'a durable subject to have reopen()')
  return subject.reopen()
}
