import type { JsonValue, Message } from '@helix-agents/core'
import { check, equal, equalBytes, patternBytes } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { unguessable } from '../unguessable.ts'
import {
  beginRun,
  contents,
  contentsOf,
  createAndBegin,
  headOf,
  journaled,
  ledger,
  newSession,
  refTo,
  resultOf,
  START,
} from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

/** Ids that break a query, a path or a column that is too short; a path leads to nothing. */
function hostileIds(): string[] {
  const mark = unguessable()
  const endings = [
    '/7/session',
    "a'; DROP TABLE sessions; --",
    'a"b',
    'a\\b',
    'a\nb\tc',
    ' a ',
    '%',
    '*',
    '\u043a\u043b\u044e\u0447',
    '\u{1F469}\u200D\u{1F469}\u200D\u{1F467}',
  ]
  const long = mark.padEnd(199, 'x')
  const paths = [`../../${mark}/passwd`, ` ${mark}`]
  return [...paths, ...endings.map((ending) => `${mark}${ending}`), `${long}1`, `${long}2`]
}

/** Texts that a careless encoding changes or cuts. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  'a\u0000b',
  '\ud800 alone',
  'alone \udc00',
  '\uFEFFmark',
  '\u2028\u2029',
  "'; DROP TABLE messages; --",
  '\\u0000 \\ud800',
  'NaN',
  'null',
  '"quoted"',
]

/** Objects with keys that are not plain, and some that look like an encoding of bytes. */
export const HOSTILE_VALUES: readonly JsonValue[] = [
  plainOf('{"__proto__":{"admin":true},"constructor":1,"toString":"x","":0}'),
  { nested: [plainOf('{"__proto__":null}')] },
  { $bytes: 'AQID' },
  { $type: 'Uint8Array', data: 'AQID' },
  { type: 'Buffer', data: [1, 2, 3] },
  { 'a\u0000b': '\ud800', '\udc00': 1 },
  [0.1, -0, 1e308, Number.MAX_SAFE_INTEGER, 5e-324],
  deep(200),
]

const MANY = 10_000
const BATCH = 2500

export const hostileBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/hostile/ids-of-sessions',
    run: async ({ store }) => {
      const checkpoints = new Map<string, string>()
      const hostile = hostileIds()
      for (const sessionId of hostile) {
        const run = await createAndBegin(store, { sessionId })
        const extra = { customState: { value: sessionId } }
        checkpoints.set(sessionId, await run.step(`of ${sessionId}`, extra))
      }
      for (const sessionId of hostile) {
        const head = await headOf(store, sessionId)
        equal([head.sessionId, head.customState], [sessionId, sessionId])
        equal(await contentsOf(store, sessionId), [`of ${sessionId}`])
        const id = checkpoints.get(sessionId) ?? ''
        equal((await store.getCheckpoint(sessionId, id))?.id, id)
      }
      const listed = (await store.listSessions()).items.map((head) => head.sessionId)
      equal(listed.toSorted(), hostile.toSorted())
    },
  },
  {
    id: 'store/hostile/ids-of-calls',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      const ids = [...hostileIds(), '__proto__', 'constructor', 'a', 'A']
      await store.beginStep({ ...write(), messages: [], journal: ids.map(journaled) })
      for (const id of ids.toReversed()) {
        await store.completeToolCall({ ...write(), toolCallId: id, result: resultOf(id) })
      }
      equal(
        (await store.loadJournal('session')).map((entry) => [
          entry.toolCallId,
          entry.result?.message.toolCallId,
        ]),
        ids.map((id) => [id, id]),
      )
    },
  },
  {
    id: 'store/hostile/names-of-workspaces',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const names = ['constructor', 'value', 'hasownproperty', 'a-b', 'a_b', 'ab']
      for (const workspace of names) {
        await store.saveWorkspaceRef({ ...run.write(), workspace, ref: refTo(workspace) })
      }
      const ledgers = names.map((name) => [name, ledger(name)] as const)
      await run.step('one', { fileLedgers: Object.fromEntries(ledgers) })
      const { workspaceRefs, fileLedgers } = await headOf(store)
      for (const name of names) {
        check(Object.hasOwn(workspaceRefs, name), `a ref of ${name}`)
        equal([workspaceRefs[name], fileLedgers[name]], [refTo(name), ledger(name)])
      }
      equal(Object.keys(workspaceRefs).length, names.length)
    },
  },
  {
    id: 'store/hostile/texts',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.append(...HOSTILE_TEXTS)
      equal(await contentsOf(store), [...HOSTILE_TEXTS])
      for (const text of HOSTILE_TEXTS) {
        const error = { code: 'internal', message: text }
        await run.step('', { customState: { value: text }, outcome: { status: 'failed', error } })
        const head = await headOf(store)
        equal([head.customState, head.outcome?.error?.message], [text, text])
      }
    },
  },
  {
    id: 'store/hostile/values',
    run: async ({ store }) => {
      for (const [index, value] of HOSTILE_VALUES.entries()) {
        const sessionId = `s${index}`
        await store.createSession(newSession({ sessionId, metadata: { value } }))
        const run = await beginRun(store, { sessionId })
        const entry = { ...journaled('a'), arguments: value }
        await store.beginStep({ ...run.write(), messages: [calling(value)], journal: [entry] })
        const [stored] = await store.loadJournal(sessionId)
        equal(stored?.arguments, value)
        const message = (await store.loadMessages(sessionId)).messages[0]
        equal(message?.role === 'assistant' ? message.toolCalls?.[0]?.arguments : '', value)
        const outcome = { status: 'completed', output: value } as const
        await run.step('one', { customState: { value }, outcome })
        const head = await headOf(store, sessionId)
        equal([head.customState, head.outcome?.output], [value, value])
        equal(head.metadata, { value })
        equal((await run.end('completed', { output: value })).output, value)
      }
    },
  },
  {
    id: 'store/hostile/bytes',
    run: async ({ store }) => {
      const whole = patternBytes(64)
      const views = [whole.subarray(8, 24), new Uint8Array(), whole]
      const files = views.map((data) => ({ data, mediaType: 'image/png' }))
      const text = { data: 'aGVsaXg=', mediaType: 'text/plain', filename: 'a.txt' }
      const user: Message = { role: 'user', content: 'see', files: [...files, text] }
      await store.createSession(newSession({ messages: [user] }))
      const run = await beginRun(store)
      await store.appendMessages({ ...run.write(), messages: [user] })
      const { messages } = await store.loadMessages('session')
      equal(messages.length, 2)
      for (const message of messages) {
        const stored = message.role === 'user' ? (message.files ?? []) : []
        equal([stored.length, stored.at(-1)?.data], [4, text.data])
        for (const [index, data] of views.entries()) {
          const got = stored[index]?.data
          check(got instanceof Uint8Array, 'bytes to stay bytes')
          equalBytes(got, data)
        }
      }
    },
  },
  {
    id: 'store/hostile/ten-thousand-messages',
    slow: true,
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const all = Array.from({ length: MANY }, (_, index) => String(index))
      for (let from = 0; from < MANY; from += BATCH) {
        await run.append(...all.slice(from, from + BATCH))
      }
      equal((await headOf(store)).messageCount, MANY)
      const read: unknown[] = []
      let hasMore = true
      while (hasMore && read.length < MANY) {
        const page = await store.loadMessages('session', { offset: read.length, limit: 999 })
        equal(page.total, MANY)
        read.push(...contents(page))
        hasMore = page.hasMore
      }
      equal([read.length, hasMore], [MANY, false])
      equal(read, all)
      equal(await contentsOf(store), all)
    },
  },
]

function calling(input: JsonValue): Message {
  return {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'a', name: 'write', arguments: input }],
  }
}

function plainOf(json: string): JsonValue {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a literal keeps no own `__proto__`
  return JSON.parse(json) as JsonValue
}

function deep(levels: number): JsonValue {
  let value: JsonValue = START
  for (let level = 0; level < levels; level++) value = [value]
  return value
}
