// What is damaged is told, with its session; nothing is made up.
import { SqlError, type SqlStateStore } from '@helix-agents/store-sql'
import { describe, expect, test } from 'vitest'
import { fill, NOW, openStore } from './filled-store.ts'

type Read = (store: SqlStateStore) => Promise<unknown>

const READS = {
  head: (store) => store.loadSession('s'),
  owner: (store) => store.loadOwner('s'),
  messages: (store) => store.loadMessages('s'),
  journal: (store) => store.loadJournal('s'),
  runs: (store) => store.listRuns('s'),
  checkpoints: (store) => store.listCheckpoints('s'),
  checkpoint: (store) => store.getCheckpoint('s', 'cp'),
  history: (store) => store.loadHistory('s'),
  requests: (store) => store.loadRequests('s'),
  request: (store) => store.getRequest('s', 'q2'),
  queued: (store) => store.listQueuedMessages('s'),
  signals: (store) => store.loadSignals('s'),
} as const satisfies Record<string, Read>

type Name = keyof typeof READS

const session = (change: string): string => `UPDATE helix_sessions SET ${change}`

/** What is done to the tables, and what cannot be read then. */
const DAMAGES: readonly (readonly [string, ...Name[]])[] = [
  [session("status = 'asleep'"), 'head'],
  [session("agent_type = '\"'"), 'head', 'owner'],
  [session("output = '{'"), 'head'],
  [session("error = '{}'"), 'head'],
  [session("outcome = '{}'"), 'head'],
  [session("owed = '[1]'"), 'head'],
  [session("usage = '{}'"), 'head'],
  [session('state_version = 9'), 'head'],
  [session('refs_version = 9'), 'head'],
  [session("stop = 'now'"), 'signals'],
  [session('message_count = message_count + 1'), 'messages'],
  [session('journal_count = 9'), 'journal'],
  ["UPDATE helix_labels SET labels = '[]'", 'head', 'owner'],
  ["UPDATE helix_states SET value = '{'", 'head', 'checkpoints', 'checkpoint'],
  ['DELETE FROM helix_states', 'head', 'checkpoints', 'checkpoint'],
  ["UPDATE helix_refs SET refs = '[]'", 'head', 'checkpoints', 'checkpoint', 'history'],
  ["UPDATE helix_ledgers SET ledger = '{}'", 'head'],
  ["UPDATE helix_ledgers SET workspace = '\"'", 'head'],
  ["UPDATE helix_messages SET message = '{}' WHERE position = 1", 'messages'],
  ['DELETE FROM helix_messages WHERE position = 0', 'messages'],
  ["UPDATE helix_journal SET entry = '{}'", 'journal'],
  ["UPDATE helix_journal SET result = '{}'", 'journal'],
  ['DELETE FROM helix_journal WHERE position = 0', 'journal'],
  ["UPDATE helix_runs SET status = 'idle'", 'runs'],
  ["UPDATE helix_runs SET run_id = '\"' WHERE turn = 2", 'head', 'runs'],
  ["UPDATE helix_checkpoints SET status = 'asleep'", 'checkpoints', 'checkpoint'],
  [
    "UPDATE helix_snapshots SET snapshot = '{}' WHERE snapshot IS NOT NULL",
    'checkpoints',
    'checkpoint',
    'history',
  ],
  ["UPDATE helix_snapshots SET missing = 'x'", 'checkpoints', 'checkpoint', 'history'],
  ["UPDATE helix_released SET ref = '{}'", 'history'],
  ["UPDATE helix_requests SET request = '{}'", 'requests', 'request'],
  ["UPDATE helix_requests SET resolution = '{}'", 'requests', 'request'],
  ["UPDATE helix_inbox SET message = '{}'", 'queued'],
  ["UPDATE helix_inbox SET delivery = 'later'", 'queued'],
  [`UPDATE helix_inbox SET message = '{"role":"assistant","content":""}'`, 'queued'],
]

describe('a session that is whole', () => {
  test('can be read', async () => {
    const { store } = await openStore()
    await fill(store)
    for (const read of Object.values<Read>(READS)) expect(await read(store)).toBeTruthy()
    expect((await store.listSessions()).unreadable).toBeUndefined()
  })
})

test.each(DAMAGES)('%s', async (statement, ...names) => {
  const { database, store } = await openStore()
  await fill(store)
  await database.write((sql) => sql.run(statement))
  const errors = new Map<string, unknown>()
  for (const [name, read] of Object.entries<Read>(READS)) {
    await read(store).catch((error: unknown) => errors.set(name, error))
  }
  const message = expect.stringMatching(/^\S.* cannot be read$/) as unknown
  const cause = expect.objectContaining({ message }) as unknown
  const corrupt = { name: 'StateStoreError', code: 'corrupt', sessionId: 's', cause }
  const wanted = names.map((name) => [name, expect.objectContaining(corrupt)])
  expect([...errors]).toEqual(wanted)
  const { items, unreadable: listed } = await store.listSessions()
  const isHead = errors.has('head')
  expect([items.length, listed]).toEqual(
    isHead ? [0, [{ sessionId: 's', code: 'corrupt' }]] : [1, undefined],
  )
  await store.deleteSession('s')
  expect((await store.listSessions()).unreadable).toBeUndefined()
})

test('a damaged request is listed by its id, among the others', async () => {
  const { database, store } = await openStore()
  await fill(store)
  await database.write((sql) =>
    sql.run("UPDATE helix_requests SET request = '{' WHERE request_id = 'q1'"),
  )
  expect(await store.listRequests({ now: NOW })).toMatchObject({
    items: [{ requestId: 'q2' }],
    unreadable: ['q1'],
  })
  await database.write((sql) =>
    sql.run(`UPDATE helix_requests SET request_id = '"' WHERE request_id = 'q1'`),
  )
  const page = await store.listRequests({ now: NOW, sessionId: 's', limit: 1 })
  expect(page).toMatchObject({ items: [], unreadable: ['"'] })
  const rest = await store.listRequests({ now: NOW, limit: 1, cursor: page.nextCursor ?? '' })
  expect(rest.items).toMatchObject([{ requestId: 'q2' }])
  expect(rest).not.toHaveProperty('unreadable')
  expect(rest).not.toHaveProperty('nextCursor')
})

test('a session whose id is damaged is listed by what is stored', async () => {
  const { database, store } = await openStore()
  await fill(store)
  await database.write((sql) => sql.run(session("session_id = '\"x'")))
  expect((await store.listSessions()).unreadable).toEqual([{ sessionId: '"x', code: 'corrupt' }])
})

test('a list fails when the database does, instead of leaving something out', async () => {
  const { database, store } = await openStore()
  await fill(store)
  const lists = [() => store.listSessions(), () => store.listRequests({ now: NOW })]
  for (const error of [new SqlError('io', 'the disk'), new TypeError('mine')]) {
    database.onStatement = (statement) => {
      if (/FROM helix_ledgers|helix_requests WHERE id = /.test(statement)) throw error
    }
    const wanted = error instanceof SqlError ? { code: 'unavailable', cause: error } : error
    for (const list of lists) await expect(list()).rejects.toMatchObject(wanted)
  }
})
