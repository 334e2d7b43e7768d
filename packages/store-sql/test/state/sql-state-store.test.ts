import { StateStoreError } from '@helix-agents/core'
import { contentLimits } from '@helix-agents/core/runtime'
import { SqlError, type SqlStateStore } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { fill, NOW, openStore, refOf, requestOf } from './filled-store.ts'

const write = { sessionId: 's', runId: 'r2', now: NOW }
const message = { role: 'user', content: 'x' } as const
const result = {
  message: { role: 'tool', toolCallId: 'c2', toolName: 't', content: 'done' },
  endedAt: NOW,
} as const

type Call = (store: SqlStateStore, sessionId?: string) => Promise<unknown>

const READS: Readonly<Record<string, Call>> = {
  loadSession: (store, id = 's') => store.loadSession(id),
  loadOwner: (store, id = 's') => store.loadOwner(id),
  getRequest: (store, id = 's') => store.getRequest(id, 'q1'),
  loadMessages: (store, id = 's') => store.loadMessages(id),
  listRuns: (store, id = 's') => store.listRuns(id),
  loadJournal: (store, id = 's') => store.loadJournal(id),
  listCheckpoints: (store, id = 's') => store.listCheckpoints(id),
  getCheckpoint: (store, id = 's') => store.getCheckpoint(id, 'cp'),
  loadHistory: (store, id = 's') => store.loadHistory(id),
  listRequests: (store, id = 's') => store.listRequests({ sessionId: id, now: NOW }),
  loadRequests: (store, id = 's') => store.loadRequests(id),
  isRemembered: (store, id = 's') => store.isRemembered(id, 'it'),
  listQueuedMessages: (store, id = 's') => store.listQueuedMessages(id),
  loadSignals: (store, id = 's') => store.loadSignals(id),
}

/** In an order in which each changes something. */
const WRITES: Readonly<Record<string, Call>> = {
  renewRun: (store) => store.renewRun({ ...write, leaseMs: 5000 }),
  appendMessages: (store) => store.appendMessages({ ...write, messages: [message] }),
  saveWorkspaceRef: (store) =>
    store.saveWorkspaceRef({ ...write, workspace: 'new', ref: refOf('3') }),
  addRequests: (store) =>
    store.addRequests({ ...write, requests: [{ ...requestOf('q4', 'c4'), subject: 'other' }] }),
  startRequest: (store) => store.startRequest({ ...write, requestId: 'q2' }),
  replaceRequest: (store) =>
    store.replaceRequest({ ...write, requestId: 'q4', request: requestOf('q5', 'c4') }),
  resolveRequest: (store) => store.resolveRequest('s', 'q1', { decision: 'deny', at: NOW }),
  completeToolCall: (store) => store.completeToolCall({ ...write, toolCallId: 'c2', result }),
  queueMessage: (store) =>
    store.queueMessage({
      messageId: 'm2',
      sessionId: 's',
      delivery: 'followUp',
      message,
      createdAt: NOW,
    }),
  deliverMessages: (store) => store.deliverMessages({ ...write, messageIds: ['m2'] }),
  removeQueuedMessage: (store) => store.removeQueuedMessage('s', 'm'),
  requestStop: (store) => store.requestStop('s', 'abort'),
  commitStep: (store) => store.commitStep({ ...write, messages: [message], checkpointId: 'cp2' }),
  beginStep: (store) => store.beginStep({ ...write, messages: [message], journal: [] }),
  recordReleased: (store) => store.recordReleased('s', { workspace: 'box', ref: refOf('9') }, NOW),
  forgetReleased: (store) => store.forgetReleased('s', [1]),
  endRun: (store) => store.endRun({ ...write, status: 'completed' }),
  beginRun: (store) => store.beginRun({ ...write, runId: 'r3', leaseMs: 5, now: NOW + 5000 }),
  restoreCheckpoint: (store) => store.restoreCheckpoint('s', 'cp', NOW + 10_000),
  deleteSession: (store) => store.deleteSession('s'),
  createSession: (store) =>
    store.createSession({ sessionId: 's', agentType: 'a', customState: 1, now: NOW }),
}

const CALLS = Object.entries({ ...READS, ...WRITES })

test.each(CALLS)(
  '%s tells what is wrong with the database, and of which session',
  async (_, call) => {
    const { database, store } = await openStore()
    await fill(store)
    database.gate = Promise.reject(new SqlError('busy', 'locked'))
    await expect(call(store)).rejects.toMatchObject({
      name: 'StateStoreError',
      code: 'unavailable',
      sessionId: 's',
    })
    database.gate = Promise.reject(new TypeError('mine'))
    await expect(call(store)).rejects.toThrow(TypeError)
  },
)

test('a list of all sessions, or of all requests, is of none', async () => {
  const { database, store } = await openStore()
  database.failure = () => {
    throw new SqlError('busy', 'locked')
  }
  for (const call of [() => store.listSessions(), () => store.listRequests({ now: NOW })]) {
    await expect(call()).rejects.toMatchObject({ code: 'unavailable', sessionId: '' })
  }
})

test('a write is stored when its promise settles, in one transaction', async () => {
  const { database, store } = await openStore()
  await fill(store)
  const everything = (): Promise<string> =>
    database.read((sql) => {
      const tables = sql.all("SELECT name FROM sqlite_master WHERE type = 'table'")
      return JSON.stringify(tables.map(({ name }) => sql.all(`SELECT * FROM ${name}`)))
    })
  for (const [name, call] of Object.entries(WRITES)) {
    const before = await everything()
    database.writes = 0
    await call(store)
    expect([name, database.writes, (await everything()) === before]).toEqual([name, 1, false])
  }
})

test('a read is one transaction', async () => {
  const { database, store } = await openStore()
  await fill(store)
  for (const [name, call] of Object.entries(READS)) {
    database.reads = 0
    await call(store)
    expect([name, database.reads, database.writes > 0]).toEqual([name, 1, true])
  }
})

const TOO_LONG = 'x'.repeat(contentLimits.maxIdCharacters + 1)
const NOTHING = new Set(['loadSession', 'loadOwner', 'getRequest'])

test.each(Object.entries(READS))(
  '%s asks no database for an id that none can have',
  async (name, call) => {
    const { database, store } = await openStore()
    database.reads = 0
    const answer = await call(store, TOO_LONG).catch((error: unknown) => error)
    const { code, sessionId }: Partial<StateStoreError> =
      answer instanceof StateStoreError ? answer : {}
    const unknown = ['not-found', '']
    expect([code, sessionId]).toEqual(NOTHING.has(name) ? [undefined, undefined] : unknown)
    expect(database.reads).toBe(0)
  },
)

test('a request of an id that none can have is unknown, and so is its session', async () => {
  const { database, store } = await openStore()
  await fill(store)
  ;[database.reads, database.writes] = [0, 0]
  expect(await store.getRequest('s', TOO_LONG)).toBeUndefined()
  const answer = { decision: 'deny', at: NOW } as const
  for (const [sessionId, requestId] of [
    ['s', TOO_LONG],
    [TOO_LONG, 'q1'],
  ] as const) {
    await expect(store.resolveRequest(sessionId, requestId, answer)).rejects.toMatchObject({
      code: 'not-found',
      sessionId: '',
    })
  }
  await store.deleteSession(TOO_LONG)
  expect([database.reads, database.writes]).toEqual([0, 0])
})

const DEEP = Array.from({ length: contentLimits.maxDepth + 2 }).reduce<unknown[]>(
  (all) => [all],
  [],
)
/** Cannot be stored: too deep. */
const deep = DEEP as never

const REFUSED: Readonly<Record<string, Call>> = {
  createSession: (store) =>
    store.createSession({ sessionId: 'n', agentType: 'a', customState: deep, now: NOW }),
  beginRun: (store) => store.beginRun({ ...write, runId: TOO_LONG, leaseMs: 1 }),
  endRun: (store) => store.endRun({ ...write, status: 'completed', output: deep }),
  appendMessages: (store) =>
    store.appendMessages({ ...write, messages: [], customState: { value: deep } }),
  beginStep: (store) =>
    store.beginStep({
      ...write,
      messages: [],
      journal: [{ toolCallId: 'c', toolName: 't', arguments: deep, startedAt: 1 }],
    }),
  completeToolCall: (store) => store.completeToolCall({ ...write, toolCallId: TOO_LONG, result }),
  commitStep: (store) =>
    store.commitStep({ ...write, messages: [], checkpointId: 'x', customState: { value: deep } }),
  saveWorkspaceRef: (store) =>
    store.saveWorkspaceRef({ ...write, workspace: TOO_LONG, ref: refOf('1') }),
  addRequests: (store) => store.addRequests({ ...write, requests: [requestOf(TOO_LONG, 'c')] }),
  startRequest: (store) => store.startRequest({ ...write, requestId: TOO_LONG }),
  replaceRequest: (store) =>
    store.replaceRequest({ ...write, requestId: 'q1', request: requestOf('q9', TOO_LONG) }),
  resolveRequest: (store) =>
    store.resolveRequest('s', 'q1', { decision: 'output', output: deep, at: NOW }),
  queueMessage: (store) =>
    store.queueMessage({
      messageId: TOO_LONG,
      sessionId: 's',
      delivery: 'steer',
      message,
      createdAt: NOW,
    }),
}

test.each(Object.entries(REFUSED))(
  '%s refuses what it cannot keep, before it asks',
  async (_, call) => {
    const { database, store } = await openStore()
    await fill(store)
    database.writes = 0
    await expect(call(store)).rejects.toMatchObject({
      name: 'StateStoreError',
      code: 'not-storable',
    })
    expect(database.writes).toBe(0)
  },
)
