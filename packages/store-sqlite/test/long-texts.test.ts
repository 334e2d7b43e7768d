// A text of any length is kept, in pieces that each fit into a row, and leaves nothing behind.
import { migrate, type SqlRow, SqlStateStore, type SqlValue } from '@helix-agents/store-sql'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import type { JournalEntry, RunWrite, SessionStateStore } from '@helix-agents/core/runtime'
import { describe, expect, onTestFinished, test } from 'vitest'
import { RecordingDatabase } from './recording-database.ts'
import { begun, NOW, step, user } from './script.ts'

const ROW_BYTES = 2_000_000
/** Three bytes each, and pairs of surrogates at every position. */
const long = (name: string): string =>
  `${name} ${'€'.repeat(350_001)}${'\u{1F600}'.repeat(250_000)}`

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

async function rowsOf(database: SqliteDatabase, statement: string): Promise<readonly SqlRow[]> {
  return database.read((sql) => sql.all(statement))
}

async function pieces(database: SqliteDatabase): Promise<SqlValue | undefined> {
  return (await rowsOf(database, 'SELECT count(*) AS n FROM helix_texts'))[0]?.['n']
}

const entry = (name: string): JournalEntry => ({
  toolCallId: 'c',
  toolName: 't',
  arguments: { text: long(name) },
  startedAt: NOW,
})
const resultOf = (name: string) => ({
  message: { role: 'tool', toolCallId: 'c', toolName: 't', content: long(name) } as const,
  endedAt: NOW,
})
const refOf = (name: string) => ({
  providerId: 'p',
  schemaVersion: 1,
  capabilities: {},
  ref: { id: long(name) },
})
const ledgerOf = (name: string) => ({
  known: { [long(name)]: { '/a': { version: '1' } } },
  writers: {},
})

/** Something long in every column that takes it; `owed` and `error` come with the end. */
async function fill(store: SessionStateStore): Promise<RunWrite> {
  await store.createSession({
    sessionId: 's',
    agentType: 'a',
    customState: { n: long('state 0') },
    metadata: { m: long('label') },
    messages: [user(long('message 0'))],
    workspaceRefs: { box: refOf('ref 0') },
    now: NOW,
  })
  await store.beginRun({ sessionId: 's', runId: 'r', leaseMs: 1000, now: NOW })
  const write = { sessionId: 's', runId: 'r', now: NOW }
  await store.beginStep({ ...write, messages: [user(long('message 1'))], journal: [entry('call')] })
  await store.completeToolCall({
    ...write,
    toolCallId: 'c',
    result: resultOf('result'),
    customState: { value: { n: long('state 1') } },
    fileLedgers: { box: ledgerOf('ledger 1') },
  })
  await store.saveWorkspaceRef({ ...write, workspace: 'lab', ref: refOf('ref 1') })
  return write
}

describe('long texts', () => {
  test('of all kinds are read as they were written', async () => {
    const { store } = await subject()
    const write = await fill(store)
    expect(await store.loadJournal('s')).toEqual([{ ...entry('call'), result: resultOf('result') }])
    const outcome = { status: 'completed', output: long('outcome') } as const
    await store.commitStep({ ...write, messages: [], checkpointId: 'cp', outcome })
    const head = await store.loadSession('s')
    expect(head?.outcome).toEqual(outcome)
    expect(head).toMatchObject({
      customState: { n: long('state 1') },
      metadata: { m: long('label') },
      workspaceRefs: { box: refOf('ref 0'), lab: refOf('ref 1') },
      fileLedgers: { box: ledgerOf('ledger 1') },
    })
    const { messages } = await store.loadMessages('s')
    expect(messages).toEqual([user(long('message 0')), user(long('message 1'))])
    const checkpoint = await store.getCheckpoint('s', 'cp')
    expect(checkpoint?.customState).toEqual({ n: long('state 1') })
    const error = { code: 'x', message: long('error') }
    const end = { status: 'failed', error, output: long('output'), owed: [long('owed')] } as const
    expect(await store.endRun({ ...write, ...end })).toMatchObject(end)
    expect((await store.listSessions()).items[0]).toMatchObject(end)
  })

  test('fit into the rows of a Durable Object', async () => {
    const { database, store } = await subject()
    const write = await fill(store)
    const error = { code: 'x', message: long('error') }
    await store.endRun({ ...write, status: 'failed', error, output: long('o'), owed: [long('p')] })
    const tables = await rowsOf(database, "SELECT name FROM sqlite_master WHERE type = 'table'")
    const longest = { bytes: 0 }
    for (const { name } of tables) {
      for (const row of await rowsOf(database, `SELECT * FROM ${name}`)) {
        const bytes = Object.values(row).map((value) => Buffer.byteLength(String(value)))
        longest.bytes = Math.max(
          longest.bytes,
          bytes.reduce((sum, one) => sum + one, 0),
        )
      }
    }
    expect(longest.bytes).toBeGreaterThan(300_000)
    expect(longest.bytes).toBeLessThan(ROW_BYTES)
  })

  test('that are overwritten or removed leave no pieces', async () => {
    const { database, store } = await subject()
    const write = await fill(store)
    const outcome = { status: 'completed', output: long('outcome') } as const
    await store.commitStep({ ...write, messages: [], checkpointId: 'cp', outcome })
    const full = Number(await pieces(database))
    for (let n = 0; n < 3; n++) {
      // The same again: nothing piles up.
      const fileLedgers = { box: ledgerOf('ledger 1') }
      const customState = { value: { n: long('state 1') } }
      await store.beginStep({ ...write, messages: [], journal: [entry('call')] })
      const result = resultOf('result')
      await store.completeToolCall({ ...write, toolCallId: 'c', result, customState, fileLedgers })
      await store.saveWorkspaceRef({ ...write, workspace: 'lab', ref: refOf('ref 1') })
    }
    const pieceCount = Math.ceil(JSON.stringify(long('')).length / (192 * 1024))
    // The checkpoint keeps its state and its refs; the outcome is gone with the next step.
    expect(Number(await pieces(database)) - full).toBeLessThanOrEqual(3 * pieceCount)
    await store.endRun({ ...write, status: 'completed', output: long('output') })
    await store.restoreCheckpoint('s', 'cp', NOW)
    expect(Number(await pieces(database))).toBeLessThan(full)
    await store.deleteSession('s')
    expect(await pieces(database)).toBe(0)
  })

  test('go back with their checkpoint', async () => {
    const { store } = await subject()
    const write = await begun(store, 's')
    await step(store, write, long('one'), { customState: { value: long('first') } })
    await step(store, write, long('two'), { customState: { value: long('second') } })
    await store.endRun({ ...write, status: 'completed' })
    const restored = await store.restoreCheckpoint('s', `after ${long('one')}`.slice(0, 40), NOW)
    expect(restored.customState).toBe(long('first'))
    expect((await store.loadMessages('s')).messages).toEqual([user(long('one'))])
  })

  test('with a lost piece are damage, not a shorter text', async () => {
    const { database, store } = await subject()
    await fill(store)
    await database.write((sql) => sql.run('DELETE FROM helix_texts WHERE position = 2'))
    await expect(store.loadSession('s')).rejects.toMatchObject({ code: 'corrupt' })
    await expect(store.loadMessages('s')).rejects.toMatchObject({ code: 'corrupt' })
    await expect(store.loadJournal('s')).rejects.toMatchObject({ code: 'corrupt' })
    await store.deleteSession('s')
    expect(await pieces(database)).toBe(0)
  })

  test('of one that was refused leave nothing', async () => {
    const { database, store } = await subject()
    await begun(store, 's')
    const foreign = { sessionId: 's', runId: 'other', now: NOW, messages: [user(long('m'))] }
    await expect(store.appendMessages(foreign)).rejects.toMatchObject({ code: 'conflict' })
    expect(await pieces(database)).toBe(0)
  })
})

test('a text is in pieces from the first unit that is too many', async () => {
  const { recording, database, store } = await subject()
  const write = await begun(store, 's')
  const overhead = JSON.stringify(user('')).length
  const statementsFor = async (length: number): Promise<number> => {
    recording.take()
    await store.appendMessages({ ...write, messages: [user('x'.repeat(length - overhead))] })
    return recording.take().length
  }
  expect(await statementsFor(192 * 1024)).toBe(2)
  expect(await pieces(database)).toBe(0)
  expect(await statementsFor(192 * 1024 + 1)).toBe(5)
  expect(await pieces(database)).toBe(2)
})

test('names that look like a mark are names', async () => {
  const { store } = await subject()
  for (const sessionId of ['~1:5', '~', '"~1:5"']) {
    await store.createSession({ sessionId, agentType: '~1:5', customState: '~1:5', now: NOW })
    expect(await store.loadSession(sessionId)).toMatchObject({ sessionId, agentType: '~1:5' })
  }
  expect((await store.listSessions({ agentType: '~1:5' })).items).toHaveLength(3)
})
