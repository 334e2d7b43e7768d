import type { JsonValue } from '@helix-agents/core'
import type { SessionStateStore, ToolCallCompletion } from '@helix-agents/core/runtime'
import { check, equal, equalBytes, patternBytes, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  beginRun,
  contentsOf,
  headOf,
  journaled,
  LEASE_MS,
  ledger,
  newSession,
  resultOf,
  type ScriptedRun,
  START,
} from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

const STATES: readonly (JsonValue | undefined)[] = [{ n: 2 }, null, '', 0, undefined]

export const recordedCallBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/call/may-have-no-arguments',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      const entry = { ...journaled('a'), arguments: undefined }
      await store.beginStep({ ...run.write(), messages: [], journal: [entry] })
      equal((await store.loadJournal('session')).length, 1)
      await store.beginStep({ ...run.write(), messages: [], journal: [entry, journaled('b')] })
      const [a, b] = await store.loadJournal('session')
      equal([a?.toolCallId, a?.arguments], ['a', undefined])
      // An array's JSON does not tell `undefined` from `null`.
      check(a?.arguments === undefined, 'no arguments to stay none')
      equal(b?.arguments, journaled('b').arguments)
      await noteCall(store, run)
      equal((await store.loadJournal('session'))[0]?.result?.message.content, 'result of a')
    },
  },
  {
    id: 'store/call/stores-the-state-with-its-result',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      for (const value of STATES) {
        await noteCall(store, run, { customState: { value } })
        const head = await headOf(store)
        equal([head.customState, head.stepCount], [value, 0])
        // An array's JSON does not tell `undefined` from `null`.
        check((head.customState === undefined) === (value === undefined), 'no state to stay none')
        equal((await store.loadJournal('session'))[0]?.result?.message.content, 'result of a')
      }
    },
  },
  {
    id: 'store/call/stores-ledgers-with-its-result',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      await noteCall(store, run, { fileLedgers: { box: ledger('1'), other: ledger('1') } })
      await noteCall(store, run, { fileLedgers: { box: ledger('2') } })
      const { fileLedgers } = await headOf(store)
      equal([fileLedgers['box'], fileLedgers['other']], [ledger('2'), ledger('1')])
    },
  },
  {
    id: 'store/call/keeps-what-it-did-not-change',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      const changes = { customState: { value: 'kept' }, fileLedgers: { box: ledger('1') } }
      await noteCall(store, run, changes)
      await noteCall(store, run)
      await store.commitStep({ ...run.write(), messages: [], checkpointId: 'cp' })
      const { customState, fileLedgers } = await headOf(store)
      equal([customState, fileLedgers['box']], ['kept', ledger('1')])
      equal((await store.getCheckpoint('session', 'cp'))?.customState, 'kept')
    },
  },
  {
    id: 'store/call/changes-nothing-when-it-is-unknown',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      const { version } = await headOf(store)
      await rejectsWithCode('not-found', () =>
        store.completeToolCall({
          ...run.write(),
          toolCallId: 'nobody',
          result: resultOf('nobody'),
          customState: { value: 'wrong' },
        }),
      )
      const head = await headOf(store)
      equal([head.customState, head.version], [{ n: 1 }, version])
    },
  },
  {
    id: 'store/call/counts-as-a-change',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      const { version } = await headOf(store)
      await noteCall(store, run, { now: START + 900 })
      const head = await headOf(store)
      equal([head.version, head.updatedAt], [version + 1, START + 900])
    },
  },
  {
    id: 'store/call/keeps-how-it-finishes-the-run',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      for (const output of STATES) {
        await noteCall(store, run, { result: { ...resultOf('a'), finish: { output } } })
        const [a, b] = await store.loadJournal('session')
        check(a?.result?.finish !== undefined, 'the finish of the call')
        equal([a.result.finish.output, b?.result], [output, undefined])
        check((a.result.finish.output === undefined) === (output === undefined), 'no output')
      }
      await noteCall(store, run)
      equal((await store.loadJournal('session'))[0]?.result?.finish, undefined)
    },
  },
  {
    id: 'store/call/keeps-errors-and-bytes-of-its-result',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      const data = patternBytes(500)
      const message = {
        role: 'tool',
        toolCallId: 'a',
        toolName: 'write',
        isError: true,
        content: [{ type: 'media', mediaType: 'image/png', data }],
      } as const
      await noteCall(store, run, { result: { message, endedAt: START } })
      const stored = (await store.loadJournal('session'))[0]?.result?.message
      const part = stored?.content[0]
      const media = typeof part === 'object' && part.type === 'media' ? part.data : undefined
      check(media instanceof Uint8Array && stored?.isError === true, 'an error with bytes')
      equalBytes(media, data)
    },
  },
  {
    id: 'store/call/outlives-its-run',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      const finish = { output: 'done' }
      await noteCall(store, run, {
        result: { ...resultOf('a'), finish },
        customState: { value: { n: 2 } },
        fileLedgers: { box: ledger('1') },
      })
      await beginRun(store, { runId: 'run-2', now: START + LEASE_MS })
      const head = await headOf(store)
      equal([head.customState, head.fileLedgers['box']], [{ n: 2 }, ledger('1')])
      const [a, b] = await store.loadJournal('session')
      equal([a?.result?.finish, b?.result], [finish, undefined])
    },
  },
  {
    id: 'store/call/is-taken-back-by-restoring',
    run: async ({ store }) => {
      const run = await stepUnderWay(store)
      await noteCall(store, run)
      const one = { customState: { value: { n: 'one' } } }
      await store.commitStep({ ...run.write(), messages: [], checkpointId: 'cp', ...one })
      await store.beginStep({ ...run.write(), messages: [], journal: [journaled('a')] })
      await noteCall(store, run, {
        customState: { value: { n: 'two' } },
        fileLedgers: { box: ledger('1') },
      })
      await store.restoreCheckpoint('session', 'cp', START + LEASE_MS)
      const head = await headOf(store)
      equal([head.customState, head.fileLedgers], [{ n: 'one' }, {}])
      equal([await store.loadJournal('session'), await contentsOf(store)], [[], []])
    },
  },
]

/** A session with the state `{ n: 1 }`, in a step with the calls `a` and `b`. */
async function stepUnderWay(store: SessionStateStore): Promise<ScriptedRun> {
  await store.createSession(newSession({ customState: { n: 1 } }))
  const run = await beginRun(store)
  const journal = [journaled('a'), journaled('b')]
  await store.beginStep({ ...run.write(), messages: [], journal })
  return run
}

/** Notes a result of the call `a`. */
function noteCall(
  store: SessionStateStore,
  run: ScriptedRun,
  over: Partial<ToolCallCompletion> = {},
): Promise<void> {
  return store.completeToolCall({
    ...run.write(),
    toolCallId: 'a',
    result: resultOf('a'),
    ...over,
  })
}
