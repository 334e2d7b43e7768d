import type { JsonValue, Message } from '@helix-agents/core'
import { contentLimits } from '@helix-agents/core/runtime'
import { equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  beginRun,
  contentsOf,
  createAndBegin,
  headOf,
  journaled,
  newSession,
  resultOf,
  userMessage,
} from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

const LONG_ID = 'x'.repeat(contentLimits.maxIdCharacters)
const TOO_LONG_ID = `${LONG_ID}x`
const DEEPEST = deep(contentLimits.maxDepth)
const TOO_DEEP = deep(contentLimits.maxDepth + 1)
const ENDLESS = deep(200_000)

export const limitBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/limits/ids',
    run: async ({ store }) => {
      const sessionId = LONG_ID
      const names = { agentType: LONG_ID, userId: LONG_ID, tags: [LONG_ID] }
      await store.createSession(newSession({ sessionId, ...names }))
      const run = await beginRun(store, { sessionId, runId: LONG_ID })
      await run.step('kept')
      equal(await contentsOf(store, sessionId), ['kept'])
      for (const over of [{ sessionId: TOO_LONG_ID }, { agentType: TOO_LONG_ID }]) {
        await rejects(store.createSession(newSession({ ...over })))
      }
      for (const over of [{ userId: TOO_LONG_ID }, { tags: [TOO_LONG_ID] }]) {
        await rejects(store.createSession(newSession({ sessionId: 'other', ...over })))
      }
      await rejects(store.beginRun({ sessionId, runId: TOO_LONG_ID, now: 0, leaseMs: 1 }))
      const journal = [{ ...journaled('a'), toolCallId: TOO_LONG_ID }]
      await rejects(store.beginStep({ ...run.write(), messages: [], journal }))
      equal(await store.loadSession('other'), null)
      equal(await store.loadSession('x'.repeat(3_000_000)), null)
      equal((await headOf(store, sessionId)).tags, [LONG_ID])
    },
  },
  {
    id: 'store/limits/depth',
    run: async ({ store }) => {
      const metadata = { value: deep(contentLimits.maxDepth - 1) }
      await store.createSession(newSession({ customState: DEEPEST, metadata }))
      const run = await beginRun(store)
      const entry = { ...journaled('a'), arguments: DEEPEST }
      await store.beginStep({ ...run.write(), messages: [calling(DEEPEST)], journal: [entry] })
      for (const value of [TOO_DEEP, ENDLESS]) {
        await rejects(store.createSession(newSession({ sessionId: 'n', customState: value })))
        await rejects(store.createSession(newSession({ sessionId: 'n', metadata: { value } })))
        await rejects(store.appendMessages({ ...run.write(), messages: [calling(value)] }))
        const journal = [{ ...journaled('a'), arguments: value }]
        await rejects(store.beginStep({ ...run.write(), messages: [], journal }))
        await rejects(run.step('', { customState: { value } }))
        await rejects(run.step('', { outcome: { status: 'completed', output: value } }))
        await rejects(run.end('completed', { output: value }))
      }
      await run.step('one', { customState: { value: DEEPEST } })
      const head = await headOf(store)
      equal([head.customState, head.metadata], [DEEPEST, metadata])
      equal((await store.loadMessages('session')).total, 2)
    },
  },
  {
    id: 'store/limits/size',
    run: async ({ store }) => {
      const text = 'x'.repeat(contentLimits.maxCharacters + 1)
      const run = await createAndBegin(store)
      await rejects(store.createSession(newSession({ sessionId: 'n', customState: text })))
      await rejects(
        store.createSession(newSession({ sessionId: 'n', messages: [userMessage(text)] })),
      )
      await rejects(run.append(text))
      await rejects(store.appendMessages({ ...run.write(), messages: [calling(text)] }))
      await rejects(run.step('', { customState: { value: text } }))
      const result = resultOf('a')
      const message = { ...result.message, content: text }
      await store.beginStep({ ...run.write(), messages: [], journal: [journaled('a')] })
      const completion = { ...run.write(), toolCallId: 'a', result: { ...result, message } }
      await rejects(store.completeToolCall(completion))
      equal((await store.loadJournal('session'))[0]?.result, undefined)
      equal(await contentsOf(store), [])
    },
  },
  {
    id: 'store/limits/shape-of-messages',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.append('before')
      for (const bad of NO_MESSAGES) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is the point
        const messages = [bad as Message]
        await rejects(store.appendMessages({ ...run.write(), messages }))
        await rejects(store.beginStep({ ...run.write(), messages, journal: [] }))
        await rejects(store.createSession(newSession({ sessionId: 'n', messages })))
      }
      equal(await contentsOf(store), ['before'])
    },
  },
]

/** What would be stored and could not be read again. */
const NO_MESSAGES: readonly unknown[] = [
  { role: 'assistant', content: 7 },
  { role: 'assistant', content: '', toolCalls: [{ id: 'a', arguments: {} }] },
  { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 7, arguments: {} }] },
  { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: TOO_LONG_ID, arguments: {} }] },
  { role: 'assistant', content: '', thinking: {} },
  { role: 'user' },
  { role: 'user', content: null },
  { role: 'tool', toolCallId: 'a', toolName: 'b' },
  { role: 'system', content: 'x' },
  'text',
  null,
]

function rejects(write: Promise<unknown>): Promise<void> {
  return rejectsWithCode('not-storable', () => write)
}

function calling(input: unknown): Message {
  const toolCalls = [{ id: 'a', name: 'write', arguments: input }]
  return { role: 'assistant', content: '', toolCalls }
}

function deep(levels: number): JsonValue {
  let value: JsonValue = 0
  for (let level = 0; level < levels; level++) value = [value]
  return value
}
