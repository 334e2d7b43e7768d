// A commit without an answer: what the server says of it, also when it has crashed since.
import type { SqlRow, SqlStatements } from '@helix-agents/store-sql'
import { PostgresDatabase } from '@helix-agents/store-postgres'
import { expect, onTestFinished, test } from 'vitest'
import { transactionStatus } from '../src/transaction-status.ts'
import { afterLastCheckpoint, emptyPlace } from './opened.ts'

const AT = 1000.5
const answering = (row: SqlRow) => {
  const sql = { get: () => row } as unknown as SqlStatements
  return async <T>(work: (statements: SqlStatements) => T): Promise<T> => work(sql)
}

test.each([
  [
    'it was never in doubt',
    { status: 'committed', is_passed: 1, checkpoint_at: 2000 },
    'committed',
  ],
  [
    'no checkpoint came since',
    { status: 'committed', is_passed: 0, checkpoint_at: 900 },
    'committed',
  ],
  ['another has its id', { status: 'committed', is_passed: 0, checkpoint_at: 1001 }, 'aborted'],
  ['the second is the same', { status: 'committed', is_passed: 0, checkpoint_at: 1000 }, 'unknown'],
  ['it was rolled back', { status: 'aborted', is_passed: 0, checkpoint_at: 1000 }, 'aborted'],
  ['it is too old to say', { status: null, is_passed: 1, checkpoint_at: 1000 }, 'unknown'],
])('%s: %o', async (_, row, status) => {
  expect(await transactionStatus(answering(row), { xid: '7', at: AT })).toBe(status)
})

test('a real server knows its own, and none that it has not given out', async () => {
  const url = await emptyPlace()
  await afterLastCheckpoint(url)
  const database = new PostgresDatabase(url)
  onTestFinished(() => database.close())
  const XID = 'SELECT pg_current_xact_id()::text AS xid, extract(epoch FROM now())::float8 AS at'
  const { xid, at } = (await database.write((sql) => sql.get(XID))) ?? {}
  const mine = { xid: String(xid), at: Number(at) }
  const read = <T>(work: (sql: SqlStatements) => T): Promise<T> => database.read(work)
  expect(await transactionStatus(read, mine)).toBe('committed')
  const future = { ...mine, xid: String(Number(xid) + 1000) }
  expect(await transactionStatus(read, future)).toBe('aborted')
})
