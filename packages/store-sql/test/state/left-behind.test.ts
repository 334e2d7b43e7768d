// What a step, a restore or a crash leaves in the tables: nothing that is not needed any more.
import { releaseLeases, SqlError, type SqlStateStore } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { foundHead } from '../../src/state/session-head.ts'
import type { WatchedDatabase } from '../watched-database.ts'
import { fill, NOW, openStore, refOf, requestOf } from './filled-store.ts'

const write = { sessionId: 's', runId: 'r2', now: NOW }

async function rowsOf(database: WatchedDatabase, table: string): Promise<unknown> {
  return database.read((sql) => sql.get(`SELECT count(*) AS n FROM helix_${table}`)?.['n'])
}

/** Three more steps, each with a state, a ref and files of its own. */
async function goOn(store: SqlStateStore): Promise<void> {
  for (const n of [1, 2, 3]) {
    await store.saveWorkspaceRef({ ...write, workspace: 'box', ref: refOf(`later ${n}`) })
    await store.commitStep({
      ...write,
      messages: [{ role: 'user', content: `${n}` }],
      checkpointId: `cp ${n}`,
      customState: { value: { later: n } },
      fileLedgers: { lab: { known: {}, writers: {} } },
      workspaceSnapshots: { box: { missing: 'failed' } },
    })
  }
  await store.beginStep({
    ...write,
    messages: [],
    journal: [{ toolCallId: 'c', toolName: 't', arguments: {}, startedAt: NOW }],
  })
}

test('a session that goes back leaves no rows of what came later', async () => {
  const { database, store } = await openStore()
  await fill(store)
  await goOn(store)
  await store.restoreCheckpoint('s', 'cp', NOW + 50_000)
  const tables = ['states', 'checkpoints', 'messages', 'ledgers', 'journal', 'snapshots', 'runs']
  const counts = await Promise.all(tables.map(async (name) => [name, await rowsOf(database, name)]))
  expect(Object.fromEntries(counts)).toEqual({
    states: 1,
    checkpoints: 1,
    messages: 2,
    ledgers: 0,
    journal: 0,
    // Those of the step, and one for each workspace of which the files are others by now.
    snapshots: 4,
    runs: 2,
  })
  const head = await store.loadSession('s')
  expect([head?.customState, head?.stepCount, head?.messageCount]).toEqual([{ n: 1 }, 1, 2])
})

test('refs that stay what they are are not written again, and others are', async () => {
  const { database, store } = await openStore()
  await fill(store)
  await store.saveWorkspaceRef({ ...write, workspace: 'box', ref: refOf('1') })
  await store.endRun({ ...write, status: 'completed' })
  database.statements = []
  await store.restoreCheckpoint('s', 'cp', NOW + 50_000)
  const written = database.statements.filter((one) => one.startsWith('INSERT INTO helix_refs'))
  expect([written.length, await rowsOf(database, 'refs')]).toEqual([0, 1])
  const start = { ...write, runId: 'r3', leaseMs: 1000, now: NOW + 60_000 }
  await store.beginRun(start)
  const options = { runId: 'r3', files: { box: refOf('switched') } }
  const head = await store.restoreCheckpoint('s', 'cp', start.now, options)
  expect(head.workspaceRefs).toEqual({ box: refOf('switched') })
})

test('the only request of a step ends with its call', async () => {
  const { store } = await openStore()
  await store.createSession({ sessionId: 's', agentType: 'a', customState: 0, now: NOW })
  await store.beginRun({ ...write, leaseMs: 1000 })
  const entry = { toolCallId: 'c', toolName: 't', arguments: {}, startedAt: NOW }
  await store.beginStep({ ...write, messages: [], journal: [entry] })
  await store.addRequests({ ...write, requests: [requestOf('q', 'c')] })
  const message = { role: 'tool', toolCallId: 'c', toolName: 't', content: 'done' } as const
  const result = { message, endedAt: NOW }
  await store.completeToolCall({ ...write, now: NOW + 5, toolCallId: 'c', result })
  expect(await store.loadRequests('s')).toEqual([])
  expect((await store.getRequest('s', 'q'))?.resolution).toEqual({
    decision: 'cancelled',
    at: NOW + 5,
  })
})

test('leases that a crash left are ended, and counted', async () => {
  const { database, store } = await openStore()
  expect(await releaseLeases(database)).toBe(0)
  await fill(store)
  await store.createSession({ sessionId: 'idle', agentType: 'a', customState: 0, now: NOW })
  expect(await releaseLeases(database)).toBe(1)
  expect(await store.loadSession('s')).toMatchObject({ status: 'running', leaseUntil: 0 })
  expect(await releaseLeases(database)).toBe(0)
  await store.beginRun({ ...write, runId: 'r3', leaseMs: 1000 })
  database.gate = Promise.reject(new SqlError('full', 'no space left'))
  await expect(releaseLeases(database)).rejects.toMatchObject({
    name: 'StateStoreError',
    code: 'unavailable',
    sessionId: '',
  })
})

test('a session that is listed and not found is damaged', () => {
  const nothing = { heads: new Map(), ledgers: new Map() }
  expect(() => foundHead(nothing, 1, 's')).toThrow(
    expect.objectContaining({ kind: 'corrupt', message: 'id cannot be read' }),
  )
})
