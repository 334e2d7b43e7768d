import type { Message } from '@helix-agents/core'
import { check, equal, equalBytes, patternBytes, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import {
  contents,
  contentsOf,
  createAndBegin,
  headOf,
  newSession,
  userMessage,
} from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

/** More than any backing store returns in one page. */
const MANY = 1200

/** One message of each kind, with every optional field somewhere. */
const CONVERSATION: readonly Message[] = [
  { role: 'user', content: 'é\u{1F600}', metadata: { from: 'mail' } },
  {
    role: 'assistant',
    content: '',
    thinking: 'hm',
    toolCalls: [
      { id: 'c1', name: 'read', arguments: { path: '/a', lines: [1, 2] } },
      { id: 'c2', name: 'read', arguments: '{"pa', problem: 'truncated' },
    ],
  },
  { role: 'tool', toolCallId: 'c1', toolName: 'read', content: 'text', isError: true },
  { role: 'assistant', content: 'done', providerMetadata: { p: [{ signature: 'é' }, null, 1.5] } },
]

export const messageBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/messages/keep-every-field-and-their-order',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await store.appendMessages({ ...run.write(), messages: CONVERSATION.slice(0, 1) })
      await store.beginStep({ ...run.write(), messages: CONVERSATION.slice(1, 2), journal: [] })
      const rest = CONVERSATION.slice(2)
      await store.commitStep({ ...run.write(), messages: rest, checkpointId: 'cp' })
      const { messages } = await store.loadMessages('session')
      equal(messages.map(sorted), CONVERSATION.map(sorted))
      equal((await headOf(store)).messageCount, CONVERSATION.length)
    },
  },
  {
    id: 'store/messages/keep-bytes',
    run: async ({ store }) => {
      const data = patternBytes(3000)
      const run = await createAndBegin(store)
      const image = { data, mediaType: 'image/png', filename: 'a.png' }
      await store.appendMessages({
        ...run.write(),
        messages: [
          { role: 'user', content: 'see', files: [image] },
          {
            role: 'tool',
            toolCallId: 'c',
            toolName: 't',
            content: [{ type: 'media', mediaType: 'image/png', data }],
          },
        ],
      })
      const [user, tool] = (await store.loadMessages('session')).messages
      const file = user?.role === 'user' ? user.files?.[0]?.data : undefined
      const part = tool?.role === 'tool' ? tool.content[0] : undefined
      const media = typeof part === 'object' && part.type === 'media' ? part.data : undefined
      check(file instanceof Uint8Array && media instanceof Uint8Array, 'bytes to stay bytes')
      equalBytes(file, data)
      equalBytes(media, data)
    },
  },
  {
    id: 'store/messages/page-by-offset-and-limit',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.append('0', '1', '2', '3', '4')
      const page = await store.loadMessages('session', { offset: 1, limit: 2 })
      equal([contents(page), page.total, page.hasMore], [['1', '2'], 5, true])
      const last = await store.loadMessages('session', { offset: 3, limit: 2 })
      equal([contents(last), last.total, last.hasMore], [['3', '4'], 5, false])
      equal(contents(await store.loadMessages('session', { offset: 2 })), ['2', '3', '4'])
    },
  },
  {
    id: 'store/messages/page-may-be-empty',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.append('0', '1')
      const none = await store.loadMessages('session', { limit: 0 })
      equal([contents(none), none.total, none.hasMore], [[], 2, true])
      const beyond = await store.loadMessages('session', { offset: 9, limit: 2 })
      equal([contents(beyond), beyond.total, beyond.hasMore], [[], 2, false])
    },
  },
  {
    id: 'store/messages/bad-query-is-rejected',
    run: async ({ store }) => {
      await store.createSession(newSession())
      const queries = [{ offset: -1 }, { limit: -1 }, { limit: 1.5 }, { offset: Number.NaN }]
      for (const query of queries) {
        await rejectsWithCode('invalid-query', () => store.loadMessages('session', query))
      }
    },
  },
  {
    id: 'store/messages/loaded-ones-do-not-change',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.append('0')
      const page = await store.loadMessages('session')
      await run.append('1')
      equal([contents(page), page.messages.length], [['0'], 1])
    },
  },
  {
    id: 'store/messages/all-of-a-long-session',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const all = Array.from({ length: MANY }, (_, index) => String(index))
      await run.append(...all)
      equal(await contentsOf(store), all)
    },
  },
  {
    id: 'store/messages/come-with-the-state',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const checkpointId = await run.step('one', { customState: { value: { topic: 'bees' } } })
      const messages = [userMessage('two')]
      await store.appendMessages({
        ...run.write(),
        messages,
        customState: { value: { topic: 'ants' } },
      })
      await run.append('three')
      equal((await headOf(store)).customState, { topic: 'ants' })
      const before = await store.getCheckpoint('session', checkpointId)
      equal(before?.customState, { topic: 'bees' })
      await store.appendMessages({
        ...run.write(),
        messages: [],
        customState: { value: undefined },
      })
      equal((await headOf(store)).customState, undefined)
    },
  },
]

/** Stores may give the fields of an object in another order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  )
}
