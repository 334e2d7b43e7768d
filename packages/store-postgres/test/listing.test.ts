// Pages of more sessions than are sorted at once, by each filter and by all of them.
import type { SessionQuery, SessionStateStore } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { emptyPlace, opened, query } from './opened.ts'

const SESSIONS = 2500

/** Ids begin with `old`, or with `new`, which more have than are sorted at once. */
const idOf = (n: number): string => `${n <= 500 ? 'old' : 'new'} ${n}`
const agentOf = (n: number): string => `agent ${n % 2}`
const statusOf = (n: number): string => (n % 4 === 1 ? 'failed' : 'completed')

const COPY = `INSERT INTO helix_sessions (id, session_id, agent_type, status, created_at, updated_at,
  version, step_count, message_count, journal_count, turn, state_version, saved_state, refs_version, saved_refs)
  SELECT n, CASE WHEN n <= 500 THEN 'old ' ELSE 'new ' END || n, 'agent ' || n % 2,
    CASE WHEN n % 4 = 1 THEN 'failed' ELSE 'completed' END, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0
  FROM generate_series(1, ${SESSIONS}) n`

const filters: readonly SessionQuery[] = [
  {},
  { agentType: 'agent 1' },
  { status: 'failed' },
  { agentType: 'agent 1', status: 'failed' },
  { agentType: 'agent 0', status: 'failed' },
]

const queries = filters.flatMap((one) => [
  one,
  ...['old', 'new', 'new 1', 'x'].map((idPrefix) => ({ ...one, idPrefix })),
])

test('each filter finds the same sessions, newest first, page by page', async () => {
  const url = await emptyPlace()
  const { stateStore } = await opened(url)
  await query(url, COPY)
  for (const one of queries) {
    const expected = numbers().filter((n) => matches(n, one))
    const ids = await idsOf(stateStore, one)
    expect({ ...one, ids }).toEqual({ ...one, ids: expected.map(idOf) })
  }
})

test('a page is read as a whole: fields, and what is damaged of one session', async () => {
  const url = await emptyPlace()
  const { stateStore } = await opened(url)
  for (const sessionId of ['first', 'bad', '\ud800 last']) {
    const customState = { id: sessionId }
    await stateStore.createSession({ sessionId, agentType: 'a', customState, tags: ['t'], now: 1 })
    const run = { sessionId, runId: 'r', now: 2 }
    await stateStore.beginRun({ ...run, leaseMs: 3_600_000 })
    const ledger = { known: {}, writers: { '/a': { actor: 'r', version: 'v' } } }
    const fileLedgers = { box: ledger, other: { ...ledger, writers: {} } }
    await stateStore.commitStep({ ...run, messages: [], checkpointId: 'c', fileLedgers })
  }
  const heads = await Promise.all(['\ud800 last', 'first'].map((id) => stateStore.loadSession(id)))
  await query(url, "UPDATE helix_labels SET labels = '{}x' WHERE session = 2")
  const page = await stateStore.listSessions()
  expect(page.items).toEqual(heads)
  expect(page.unreadable).toEqual([{ sessionId: 'bad', code: 'corrupt' }])
})

function numbers(): readonly number[] {
  return Array.from({ length: SESSIONS }, (_, at) => SESSIONS - at)
}

function matches(n: number, { agentType, status, idPrefix = '' }: SessionQuery): boolean {
  if (agentType !== undefined && agentType !== agentOf(n)) return false
  if (status !== undefined && status !== statusOf(n)) return false
  return idOf(n).startsWith(idPrefix)
}

async function idsOf(store: SessionStateStore, given: SessionQuery): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const at = cursor === undefined ? {} : { cursor }
    const page = await store.listSessions({ ...given, ...at, limit: 200 })
    ids.push(...page.items.map(({ sessionId }) => sessionId))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return ids
}
