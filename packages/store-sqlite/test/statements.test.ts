// What a call costs, in statements and in what they look at: facts that do not depend on time.
import { migrate, SqlStateStore } from '@helix-agents/store-sql'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import type {
  JournalEntry,
  QueuedMessage,
  RunWrite,
  SessionRequest,
  SessionStateStore,
} from '@helix-agents/core/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { type Recorded, RecordingDatabase } from './recording-database.ts'
import { begun, NOW, step, user } from './script.ts'

interface Subject {
  readonly database: SqliteDatabase
  readonly recording: RecordingDatabase
  readonly store: SessionStateStore
}

async function subject(): Promise<Subject> {
  const database = await SqliteDatabase.open(':memory:')
  onTestFinished(() => database.close())
  await migrate(database, { now: NOW })
  const recording = new RecordingDatabase(database)
  return { database, recording, store: new SqlStateStore(recording) }
}

const entry = (toolCallId: string): JournalEntry => ({
  toolCallId,
  toolName: 't',
  arguments: {},
  startedAt: NOW,
})
const result = {
  message: { role: 'tool', toolCallId: 'c', toolName: 't', content: '' },
  endedAt: NOW,
} as const
const request = (toolCallId: string): SessionRequest => ({
  requestId: `request-${toolCallId}`,
  sessionId: 's',
  askingSessionId: 's',
  agentPath: ['a'],
  kind: 'approval',
  toolCallId,
  toolName: 't',
  arguments: '{}',
  preview: { title: 't' },
  subject: 'alike',
  createdAt: NOW,
})
const queued = (messageId: string): QueuedMessage => ({
  messageId,
  sessionId: 's',
  delivery: 'steer',
  message: { role: 'user', content: messageId },
  createdAt: NOW,
})
const ref = { providerId: 'p', schemaVersion: 1, capabilities: {}, ref: {} }
const ledger = { known: {}, writers: {} }

test('a step is few statements', async () => {
  const { recording, store } = await subject()
  const write = await begun(store, 's')
  const count = async (call: () => Promise<unknown>): Promise<number> => {
    recording.take()
    await call()
    return recording.take().length
  }
  const messages = [user('1'), user('2')]
  const journal = [entry('a'), entry('b'), entry('c')]
  const extra = {
    customState: { value: 1 },
    fileLedgers: { box: ledger },
    outcome: { status: 'completed' },
  } as const
  const completion = { ...write, toolCallId: 'a', result }
  const commit = { ...write, messages, checkpointId: 'cp' }

  expect(await count(() => store.beginStep({ ...write, messages, journal }))).toBe(2 + 2 + 3)
  expect(await count(() => store.completeToolCall(completion))).toBe(2)
  expect(await count(() => store.completeToolCall({ ...completion, ...extra }))).toBe(4)
  expect(await count(() => store.commitStep(commit))).toBe(2 + 2)
  expect(await count(() => store.commitStep({ ...commit, ...extra }))).toBe(4 + 2)
  expect(await count(() => store.appendMessages({ ...write, messages }))).toBe(1 + 2)
  expect(await count(() => store.saveWorkspaceRef({ ...write, workspace: 'box', ref }))).toBe(3)
  expect(await count(() => store.renewRun({ ...write, leaseMs: 1 }))).toBe(1)
  expect(await count(() => store.loadSession('s'))).toBe(2)
  expect(await count(() => store.loadMessages('s'))).toBe(2)
  expect(await count(() => store.loadJournal('s'))).toBe(1)
  expect(await count(() => store.listCheckpoints('s'))).toBe(3)
})

test('only a step that asks pays for requests', async () => {
  const { recording, store } = await subject()
  const write = await begun(store, 's')
  const count = async (call: () => Promise<unknown>): Promise<number> => {
    recording.take()
    await call()
    return recording.take().length
  }
  const commit = { ...write, messages: [], checkpointId: 'cp' }
  const completion = { ...write, toolCallId: 'a', result }
  const approve = { decision: 'approve', at: NOW } as const
  await store.beginStep({ ...write, messages: [], journal: [entry('a'), entry('b')] })
  expect(await count(() => store.loadRequests('s'))).toBe(1)
  expect(await count(() => store.loadSignals('s'))).toBe(1)
  expect(await count(() => store.addRequests({ ...write, requests: [request('a')] }))).toBe(4)
  expect(await count(() => store.loadRequests('s'))).toBe(2)
  expect(await count(() => store.resolveRequest('s', 'request-a', approve))).toBe(2)
  expect(await count(() => store.startRequest({ ...write, requestId: 'request-a' }))).toBe(2)
  expect(await count(() => store.completeToolCall(completion))).toBe(2 + 1)
  expect(await count(() => store.commitStep(commit))).toBe(2 + 2)
  await store.beginStep({ ...write, messages: [], journal: [entry('a')] })
  expect(await count(() => store.completeToolCall(completion))).toBe(2)
  expect(await count(() => store.commitStep(commit))).toBe(2)
})

test('no statement looks at rows of other sessions, or at more than it needs', async () => {
  const { database, recording, store } = await subject()
  await everyCall(store)
  const statements = new Map(recording.take().map((one) => [one.statement, one]))
  expect(statements.size).toBeGreaterThan(30)
  for (const { statement, values } of statements.values()) {
    const plan = await planOf(database, { statement, values })
    // The list of all sessions goes down their keys and stops at the end of the page.
    const allowed = statement.startsWith('SELECT id, session_id FROM helix_sessions')
    const bad = plan.filter((line) => /SCAN|TEMP B-TREE|AUTOMATIC/.test(line) && !allowed)
    expect({ statement, bad }).toEqual({ statement, bad: [] })
  }
})

/** The id of a checkpoint, as a run makes them. */
const id = (at: number): string => `cpv1-s-s${at}-t1700000000000-0000ab`

test('a checkpoint is found by its step, however many there are', async () => {
  const { recording, store } = await subject()
  const write = await begun(store, 's')
  for (let at = 1; at <= 30; at++) await step(store, write, `${at}`, { checkpointId: id(at) })
  recording.take()
  expect(await store.getCheckpoint('s', id(7))).toMatchObject({ id: id(7), stepCount: 7 })
  const found = recording.take().map(({ statement }) => statement)
  expect(found).toHaveLength(3)
  expect(found[1]).toContain('c.step_count = ?')
  expect(await store.getCheckpoint('s', 'after 7')).toBeNull()
  expect(await store.getCheckpoint('s', `${id(7)}0`)).toBeNull()
})

test('lists of sessions go along an index', async () => {
  const { database, recording, store } = await subject()
  await store.listSessions({ cursor: 'zz' })
  await store.listSessions({ agentType: 'a' })
  const [all, ofAgent] = recording.take()
  expect(await planOf(database, all!)).toEqual([
    'SEARCH helix_sessions USING INTEGER PRIMARY KEY (rowid<?)',
  ])
  expect(await planOf(database, ofAgent!)).toEqual([
    'SEARCH helix_sessions USING INDEX helix_sessions_of_agent (agent_type=? AND id<?)',
  ])
})

test('lists of requests go along an index', async () => {
  const { database, recording, store } = await subject()
  await begun(store, 's')
  recording.take()
  const query = { now: NOW, state: 'open', cursor: 'a' } as const
  const plansOf = async (): Promise<readonly string[]> => {
    const plans = await Promise.all(recording.take().map((one) => planOf(database, one)))
    return plans.flat().filter((line) => line.includes('helix_requests'))
  }
  await store.listRequests(query)
  expect(await plansOf()).toEqual(['SEARCH helix_requests USING INDEX helix_requests_open (id>?)'])
  await store.listRequests({ ...query, sessionId: 's' })
  expect(await plansOf()).toEqual([
    'SEARCH helix_requests USING INDEX helix_requests_live (session=? AND rowid>?)',
  ])
})

test('a step writes as much in a long session with much state as in a short one', async () => {
  const { database, store } = await subject()
  const write = await begun(store, 's')
  await step(store, write, 'first', { customState: { value: 'x'.repeat(500_000) } })
  const before = await usedPages(database)
  for (let n = 0; n < 200; n++) await step(store, write, `${n}`)
  const bytes = (await usedPages(database)) * 4096 - before * 4096
  expect(bytes / 200).toBeLessThan(400)
  expect((await store.listCheckpoints('s', { limit: 200 })).items).toHaveLength(200)
})

test('versions of the state and the refs that no checkpoint uses are gone', async () => {
  const { database, store } = await subject()
  const write = await begun(store, 's')
  const rows = async (): Promise<unknown> =>
    database.read((sql) => [
      sql.all('SELECT version, value FROM helix_states').map((row) => row['value']),
      sql.all('SELECT version FROM helix_refs').length,
    ])
  await store.beginStep({ ...write, messages: [], journal: [entry('a')] })
  for (let n = 1; n <= 5; n++) {
    const customState = { value: n }
    await store.completeToolCall({ ...write, toolCallId: 'a', result, customState })
    await store.saveWorkspaceRef({ ...write, workspace: `box-${n}`, ref })
  }
  expect(await rows()).toEqual([['5'], 1])
  await step(store, write, 'one')
  expect(await rows()).toEqual([['5'], 1])
  await step(store, write, 'two', { customState: { value: 'two' } })
  await store.saveWorkspaceRef({ ...write, workspace: 'box-1', ref: null })
  expect(await rows()).toEqual([['5', '"two"'], 2])
  await store.endRun({ ...write, status: 'completed' })
  await store.restoreCheckpoint('s', 'after one', NOW)
  expect(await rows()).toEqual([['5'], 1])
})

test('a deleted session leaves no row', async () => {
  const { database, store } = await subject()
  await everyCall(store)
  await store.deleteSession('s')
  const tables = await database.read((sql) =>
    sql
      .all("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'helix%'")
      .filter((row) => !String(row['name']).startsWith('helix_schema'))
      .map((row) => sql.get(`SELECT count(*) AS rows FROM ${row['name']}`)?.['rows']),
  )
  expect(tables.length).toBeGreaterThan(8)
  expect(new Set(tables)).toEqual(new Set([0]))
})

/** Every method, so that every statement runs. */
async function everyCall(store: SessionStateStore): Promise<void> {
  const session = { sessionId: 's', agentType: 'a', customState: 1, now: NOW, userId: 'u' }
  await store.createSession({ ...session, messages: [user('0')], workspaceRefs: { box: ref } })
  const write = { sessionId: 's', runId: 'r', now: NOW }
  await store.beginRun({ ...write, leaseMs: 1000 })
  await store.renewRun({ ...write, leaseMs: 1000 })
  await store.appendMessages({ ...write, messages: [user('1')] })
  await step(store, write, 'one')
  await store.beginStep({ ...write, messages: [user('2')], journal: [entry('c')] })
  const change = { customState: { value: 2 }, fileLedgers: { box: ledger } }
  await store.completeToolCall({ ...write, ...change, toolCallId: 'c', result })
  await store.saveWorkspaceRef({ ...write, workspace: 'lab', ref })
  await store.loadJournal('s')
  await everyInteraction(store, write)
  await store.commitStep({ ...write, messages: [], checkpointId: 'cp' })
  await store.endRun({ ...write, status: 'completed' })
  await store.loadMessages('s', { offset: 1, limit: 1 })
  await store.listRuns('s')
  await store.listSessions()
  await store.listSessions({ agentType: 'a' })
  await store.listCheckpoints('s')
  await store.getCheckpoint('s', 'cp')
  await store.restoreCheckpoint('s', 'after one', NOW)
  await store.deleteSession('nobody')
  await store.createSession({ ...session, sessionId: 'gone' })
  await store.deleteSession('gone')
}

async function everyInteraction(store: SessionStateStore, write: RunWrite): Promise<void> {
  const requests = ['c', 'd', 'e'].map((call) => request(call))
  await store.addRequests({ ...write, requests })
  await store.getRequest('s', 'request-c')
  for (const sessionId of [{}, { sessionId: 's' }]) {
    await store.listRequests({ ...sessionId, now: NOW })
    await store.listRequests({ ...sessionId, now: NOW, state: 'open' })
    await store.listRequests({ ...sessionId, now: NOW, state: 'resolved' })
  }
  await store.loadRequests('s')
  await store.resolveRequest('s', 'request-c', {
    decision: 'approve',
    at: NOW,
    remember: 'session',
  })
  await store.isRemembered('s', 'alike')
  await store.startRequest({ ...write, requestId: 'request-c' })
  const replacement = { ...request('d'), requestId: 'new' }
  await store.replaceRequest({ ...write, requestId: 'request-d', request: replacement })
  await store.completeToolCall({ ...write, toolCallId: 'c', result })
  for (const one of ['m', 'n']) await store.queueMessage(queued(one))
  await store.queueMessage({ ...queued('long'), message: user('x'.repeat(400_000)) })
  await store.listQueuedMessages('s')
  await store.listQueuedMessages('s', 'steer')
  await store.deliverMessages({ ...write, messageIds: ['m', 'long'] })
  await store.removeQueuedMessage('s', 'n')
  await store.requestStop('s', 'interrupt')
  await store.loadSignals('s')
}

async function planOf(
  database: SqliteDatabase,
  { statement, values }: Recorded,
): Promise<readonly string[]> {
  const rows = await database.read((sql) => sql.all(`EXPLAIN QUERY PLAN ${statement}`, ...values))
  return rows.map((row) => String(row['detail']))
}

async function usedPages(database: SqliteDatabase): Promise<number> {
  return database.read((sql) => Number(sql.get('PRAGMA page_count')?.['page_count']))
}
