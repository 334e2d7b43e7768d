// What an agent pays that uses little: which tables a call asks for, and that it asks for no more.
import type { SqlStateStore } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { fill, NOW, openStore } from './filled-store.ts'

const write = { sessionId: 's', runId: 'r', now: NOW }
const message = { role: 'user', content: 'x' } as const
const entry = { toolCallId: 'c', toolName: 't', arguments: {}, startedAt: NOW }
const result = {
  message: { role: 'tool', toolCallId: 'c', toolName: 't', content: 'done' },
  endedAt: NOW,
} as const
const OWN_ID = `cpv1-s-s1-t${NOW}-abcdef`

async function openPlain() {
  const { database, store } = await openStore()
  const statementsOf = async (
    call: (one: SqlStateStore) => Promise<unknown>,
  ): Promise<string[]> => {
    database.statements = []
    await call(store)
    return database.statements.map((statement) => {
      const [verb = ''] = statement.split(' ')
      return `${verb} ${/(?:INTO|FROM|UPDATE) helix_(\w+)/.exec(statement)?.[1] ?? ''}`
    })
  }
  return { store, statementsOf }
}

const HEAD = ['SELECT runs', 'SELECT ledgers']

/** In an order in which each is possible. */
const CALLS: readonly (readonly [string, (store: SqlStateStore) => Promise<unknown>, string[]])[] =
  [
    [
      'createSession',
      (store) =>
        store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 1 }),
      ['INSERT sessions', ...HEAD],
    ],
    ['loadMessages', (store) => store.loadMessages('s'), ['SELECT sessions']],
    [
      'beginRun',
      (store) => store.beginRun({ ...write, leaseMs: 1000 }),
      ['SELECT sessions', 'SELECT runs', 'UPDATE runs', 'INSERT runs', 'UPDATE sessions', ...HEAD],
    ],
    ['renewRun', (store) => store.renewRun({ ...write, leaseMs: 9 }), ['UPDATE sessions']],
    ['loadJournal', (store) => store.loadJournal('s'), ['SELECT sessions']],
    ['loadRequests', (store) => store.loadRequests('s'), ['SELECT sessions']],
    [
      'listCheckpoints',
      (store) => store.listCheckpoints('s'),
      ['SELECT sessions', 'SELECT checkpoints'],
    ],
    [
      'appendMessages',
      (store) => store.appendMessages({ ...write, messages: [message] }),
      ['UPDATE sessions', 'INSERT messages'],
    ],
    [
      'beginStep',
      (store) => store.beginStep({ ...write, messages: [], journal: [entry] }),
      ['UPDATE sessions', 'DELETE journal', 'INSERT journal'],
    ],
    [
      'completeToolCall',
      (store) => store.completeToolCall({ ...write, toolCallId: 'c', result }),
      ['UPDATE sessions', 'UPDATE journal'],
    ],
    [
      'commitStep',
      (store) => store.commitStep({ ...write, messages: [message], checkpointId: OWN_ID }),
      ['UPDATE sessions', 'INSERT messages', 'INSERT checkpoints'],
    ],
    [
      'deliverMessages',
      (store) => store.deliverMessages({ ...write, messageIds: ['none'] }),
      ['UPDATE sessions', 'SELECT inbox'],
    ],
    [
      'getCheckpoint',
      (store) => store.getCheckpoint('s', OWN_ID),
      ['SELECT sessions', 'SELECT checkpoints', 'SELECT snapshots'],
    ],
    [
      'endRun',
      (store) => store.endRun({ ...write, status: 'completed' }),
      ['UPDATE sessions', 'UPDATE runs', ...HEAD],
    ],
    ['loadSignals', (store) => store.loadSignals('s'), ['SELECT inbox']],
  ]

test('a session without requests, state, refs and files has few statements', async () => {
  const { statementsOf } = await openPlain()
  for (const [name, call, statements] of CALLS) {
    expect([name, await statementsOf(call)]).toEqual([name, statements])
  }
})

test('a checkpoint is found by the step in its id, and one of another maker too', async () => {
  const { database, store } = await openStore()
  await fill(store)
  const steps: string[] = []
  for (const checkpointId of [`cpv1-s-s2-t${NOW}-abc`, 'other-s3-t1-']) {
    await store.commitStep({ ...write, runId: 'r2', messages: [], checkpointId })
    database.statements = []
    const found = await store.getCheckpoint('s', checkpointId)
    expect([found?.id, found?.stepCount]).toEqual([checkpointId, steps.length + 2])
    const [, statement = ''] = database.statements
    steps.push(statement.includes('c.step_count = ?') ? 'by its step' : 'by its id')
  }
  expect(steps).toEqual(['by its step', 'by its id'])
  expect(await store.getCheckpoint('s', `cpv1-s-s3-t${NOW}-abc`)).toBeNull()
})

test('a session is deleted from every table', async () => {
  const { database, store } = await openStore()
  await fill(store)
  const countOf = (): Promise<(readonly [unknown, unknown])[]> =>
    database.read((sql) =>
      sql
        .all("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'helix_%'")
        .map(({ name }) => [name, sql.get(`SELECT count(*) AS n FROM ${name}`)?.['n']] as const),
    )
  const filled = (await countOf()).filter(([, rows]) => Number(rows) > 0)
  expect(filled.length).toBeGreaterThan(12)
  await store.deleteSession('s')
  const left = (await countOf()).filter(([, rows]) => Number(rows) > 0)
  expect(left.map(([name]) => name).filter((name) => !String(name).includes('schema'))).toEqual([])
})
