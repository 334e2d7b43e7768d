// Files and rows that were damaged from outside.
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { expect, test } from 'vitest'
import { begun, NOW, opened, step, textsOf, user } from '../script.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const PAGE_BYTES = 4096
const MARK = 'damage me '

/** Three sessions in a closed file; the big message of `bad` fills pages of its own. */
async function threeSessions(): Promise<string> {
  const path = join(temporaryDirectory(), 'corrupt.db')
  const stores = await openSqliteStores(path)
  for (const sessionId of ['first', 'bad', 'last']) {
    const write = await begun(stores.stateStore, sessionId)
    const big = sessionId === 'bad' ? MARK.repeat(5000) : 'x'.repeat(50_000)
    await stores.stateStore.appendMessages({ ...write, messages: [user('small'), user(big)] })
    await step(stores.stateStore, write, 'after')
  }
  await stores.close()
  return path
}

/** Overwrites a part of one of the pages that hold nothing but what is marked. */
function damagePage(path: string, offset: number, bytes: Uint8Array): void {
  const data = readFileSync(path)
  const starts = Array.from({ length: data.length / PAGE_BYTES }, (_, page) => page * PAGE_BYTES)
  const filled = starts.filter((start) => {
    const found = data.indexOf(MARK, start)
    return found >= start && found < start + 4 + MARK.length
  })
  expect(filled.length).toBeGreaterThan(10)
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, filled[5]! + offset)
  closeSync(file)
}

async function expectOthersWhole(store: SessionStateStore): Promise<void> {
  for (const sessionId of ['first', 'last']) {
    const texts = await textsOf(store, sessionId)
    expect(texts).toEqual(['small', 'x'.repeat(50_000), 'after'])
    expect((await store.listCheckpoints(sessionId)).items).toHaveLength(1)
  }
}

const damages = {
  'its pages lead nowhere': [0, new Uint8Array(PAGE_BYTES).fill(0xff)],
  'its text is overwritten': [100, new Uint8Array(50)],
} as const

for (const [name, [offset, bytes]] of Object.entries(damages)) {
  test(`a damaged message is corrupt for its session alone: ${name}`, async () => {
    const path = await threeSessions()
    damagePage(path, offset, bytes)
    const { stateStore } = await opened(path)
    await expectOthersWhole(stateStore)
    await expect(stateStore.loadMessages('bad')).rejects.toMatchObject({
      code: 'corrupt',
      sessionId: 'bad',
      transient: false,
    })
    // What is not damaged of the session can still be read.
    const page = await stateStore.loadMessages('bad', { limit: 1 })
    expect(page.messages).toEqual([user('small')])
    expect((await stateStore.loadSession('bad'))?.messageCount).toBe(3)
    // And the store still writes.
    await step(stateStore, { sessionId: 'last', runId: 'r', now: NOW }, 'more')
  })
}

/** Each breaks one session by a statement, as a foreign program might. */
const brokenRows: Readonly<Record<string, string>> = {
  state: "UPDATE helix_states SET value = '{' WHERE session = 2",
  'missing state': 'DELETE FROM helix_states WHERE session = 2',
  refs: `UPDATE helix_refs SET refs = '{"box":{"providerId":1}}' WHERE session = 2`,
  ledger: `UPDATE helix_ledgers SET ledger = '{"known":[]}' WHERE session = 2`,
  labels: `UPDATE helix_labels SET labels = '{"tags":"x"}' WHERE session = 2`,
  status: "UPDATE helix_sessions SET status = 'asleep' WHERE id = 2",
  outcome: `UPDATE helix_sessions SET outcome = '{"status":"running"}' WHERE id = 2`,
  error: `UPDATE helix_sessions SET error = '"text"' WHERE id = 2`,
  output: "UPDATE helix_sessions SET output = 'undefined' WHERE id = 2",
}

for (const [name, statement] of Object.entries(brokenRows)) {
  test(`a session with a broken ${name} is unreadable, and listed as such`, async () => {
    const path = join(temporaryDirectory(), 'rows.db')
    const { stateStore } = await opened(path)
    for (const sessionId of ['first', 'bad', 'last']) await richSession(stateStore, sessionId)
    execute(path, statement)
    await expect(stateStore.loadSession('bad')).rejects.toMatchObject({
      code: 'corrupt',
      sessionId: 'bad',
    })
    const page = await stateStore.listSessions()
    expect(page.items.map((head) => head.sessionId)).toEqual(['last', 'first'])
    expect(page.unreadable).toEqual([{ sessionId: 'bad', code: 'corrupt' }])
    await stateStore.deleteSession('bad')
    expect((await stateStore.listSessions()).unreadable).toBeUndefined()
  })
}

const brokenMessages = {
  'no JSON': 'hello',
  'no object': '[]',
  'no role': '{"content":"x"}',
  'no content': '{"role":"user"}',
  'a wrong tool call': '{"role":"assistant","content":"","toolCalls":[{"id":1,"name":"n"}]}',
  'no base64': '{"role":"user","content":"","files":[{"data":{"$bytes":"%"},"mediaType":"x"}]}',
  'a wrong part':
    '{"role":"tool","toolCallId":"c","toolName":"t","content":[{"type":"media","data":"x"}]}',
}

for (const [name, text] of Object.entries(brokenMessages)) {
  test(`a message with ${name} is corrupt`, async () => {
    const path = join(temporaryDirectory(), 'rows.db')
    const { stateStore } = await opened(path)
    await richSession(stateStore, 'bad')
    execute(path, 'UPDATE helix_messages SET message = ? WHERE position = 1', text)
    await expect(stateStore.loadMessages('bad')).rejects.toMatchObject({
      code: 'corrupt',
      sessionId: 'bad',
    })
    expect((await stateStore.loadMessages('bad', { limit: 1 })).messages).toHaveLength(1)
  })
}

test('a message or a journal entry that is missing is corrupt, not skipped', async () => {
  const path = join(temporaryDirectory(), 'rows.db')
  const { stateStore } = await opened(path)
  await richSession(stateStore, 'bad')
  execute(path, 'DELETE FROM helix_messages WHERE position = 1')
  execute(path, 'DELETE FROM helix_journal WHERE position = 0')
  await expect(stateStore.loadMessages('bad')).rejects.toMatchObject({ code: 'corrupt' })
  await expect(stateStore.loadJournal('bad')).rejects.toMatchObject({ code: 'corrupt' })
})

test('broken runs, checkpoints and journal entries are corrupt', async () => {
  const path = join(temporaryDirectory(), 'rows.db')
  const { stateStore } = await opened(path)
  await richSession(stateStore, 'bad')
  execute(path, "UPDATE helix_runs SET status = 'x'")
  execute(path, "UPDATE helix_checkpoints SET status = 'x'")
  execute(path, "UPDATE helix_journal SET result = '{}'")
  const corrupt = { code: 'corrupt', sessionId: 'bad' }
  await expect(stateStore.listRuns('bad')).rejects.toMatchObject(corrupt)
  await expect(stateStore.listCheckpoints('bad')).rejects.toMatchObject(corrupt)
  await expect(stateStore.getCheckpoint('bad', 'after one')).rejects.toMatchObject(corrupt)
  await expect(stateStore.loadJournal('bad')).rejects.toMatchObject(corrupt)
})

for (const [name, content] of [
  ['a text', 'this is no database '.repeat(500)],
  ['a short text', 'hello'],
] as const) {
  test(`${name} is no database, and is left as it is`, async () => {
    const path = join(temporaryDirectory(), 'text.db')
    writeFileSync(path, content)
    await expect(openSqliteStores(path)).rejects.toMatchObject({ code: 'corrupt', sessionId: '' })
    expect(readFileSync(path, 'utf8')).toBe(content)
  })
}

/** A session with a row in every table. */
async function richSession(store: SessionStateStore, sessionId: string): Promise<void> {
  const labels = { userId: 'u', tags: ['x'] }
  const ref = { providerId: 'p', schemaVersion: 1, capabilities: {}, ref: {} }
  const session = { sessionId, agentType: 'a', customState: 1, workspaceRefs: { box: ref } }
  await store.createSession({ ...session, ...labels, now: NOW })
  const write = { sessionId, runId: 'r', now: NOW }
  await store.beginRun({ ...write, leaseMs: 1000 })
  const fileLedgers = { box: { known: {}, writers: {} } }
  await step(store, write, 'one', { fileLedgers })
  const entry = { toolCallId: 'c', toolName: 't', arguments: {}, startedAt: NOW }
  await store.beginStep({ ...write, messages: [user('two'), user('three')], journal: [entry] })
}

function execute(path: string, statement: string, ...values: string[]): void {
  const database = new DatabaseSync(path)
  database.prepare(statement).run(...values)
  database.close()
}
