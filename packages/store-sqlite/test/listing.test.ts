// Pages of more sessions than are sorted at once, by each filter and by all of them.
import type { SessionQuery, SessionStateStore } from '@helix-agents/core/runtime'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { opened } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const SESSIONS = 2500

/** Ids begin with `old`, or with `new`, which more have than are sorted at once. */
const idOf = (n: number): string => `${n <= 500 ? 'old' : 'new'} ${n}`
const agentOf = (n: number): string => `agent ${n % 2}`
const statusOf = (n: number): string => (n % 4 === 1 ? 'failed' : 'completed')

const COPY = `INSERT INTO helix_sessions (id, session_id, agent_type, status, created_at, updated_at,
  version, step_count, message_count, journal_count, turn, state_version, saved_state, refs_version, saved_refs)
  SELECT n, CASE WHEN n <= 500 THEN 'old ' ELSE 'new ' END || n, 'agent ' || (n % 2),
    CASE WHEN n % 4 = 1 THEN 'failed' ELSE 'completed' END, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0
  FROM (WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${SESSIONS}) SELECT n FROM s)`

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
  const path = join(temporaryDirectory(), 'sessions.db')
  const { stateStore } = await opened(path)
  const raw = new DatabaseSync(path)
  raw.exec(COPY)
  raw.close()
  for (const one of queries) {
    const expected = numbers().filter((n) => matches(n, one))
    const ids = await idsOf(stateStore, one)
    expect({ ...one, ids }).toEqual({ ...one, ids: expected.map(idOf) })
  }
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
