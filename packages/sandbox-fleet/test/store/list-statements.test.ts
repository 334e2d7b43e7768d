// The statement of a list: one condition may use an index of SQLite, the most selective one.
import type { SqlStatements, SqlValue } from '@helix-agents/store-sql'
import { describe, expect, test } from 'vitest'
import { listRecords } from '../../src/sql/list-records.ts'
import { type FleetQuery } from '../../src/store/fleet-store.ts'
import { parseQuery } from '../../src/store/parse-query.ts'

/** The conditions behind the first, and the values, of each statement. */
function statementsOf(query: FleetQuery, server?: SqlStatements['server']) {
  const found: { readonly conditions: readonly string[]; readonly values: readonly SqlValue[] }[] =
    []
  const all = (text: string, ...values: readonly SqlValue[]) => {
    const [, where = ''] =
      /WHERE seq < \?(?: AND )?(.*) ORDER BY seq DESC LIMIT \?$/.exec(text) ?? []
    found.push({ conditions: where === '' ? [] : where.split(' AND '), values })
    return []
  }
  const sql = { all, ...(server !== undefined && { server }) } as unknown as SqlStatements
  listRecords(sql, parseQuery(query))
  return found
}

const conditionsOf = (query: FleetQuery, server?: SqlStatements['server']) =>
  statementsOf(query, server).map(({ conditions }) => conditions)

describe('in SQLite', () => {
  const everything = {
    sessionId: 's',
    taskId: 'k',
    tenant: 'n',
    agentType: 't',
    provider: 'p',
    environment: 'e',
    pool: 'o',
    createdBefore: 7,
  }

  test('each condition is there, with its value, and one of them leads', () => {
    expect(statementsOf({ ...everything, limit: 9 })).toEqual([
      {
        conditions: [
          'session_id = ?',
          '+task_id = ?',
          '+tenant = ?',
          '+agent_type = ?',
          '+provider = ?',
          '+environment = ?',
          '+pool = ?',
          '+created_at <= ?',
        ],
        values: [Number.MAX_SAFE_INTEGER, 's', 'k', 'n', 't', 'p', 'e', 'o', 7, 10],
      },
    ])
  })

  test.each([
    [{ taskId: 'x', pool: 'x' }, ['task_id = ?', '+pool = ?']],
    [{ tenant: 'x', pool: 'x' }, ['+tenant = ?', 'pool = ?']],
    [{ tenant: 'x', agentType: 'x' }, ['tenant = ?', '+agent_type = ?']],
    [{ agentType: 'x', provider: 'x' }, ['agent_type = ?', '+provider = ?']],
    [{ provider: 'x', createdBefore: 1 }, ['+provider = ?', '+created_at <= ?']],
    [{}, []],
  ] satisfies [FleetQuery, string[]][])('of %j', (query, conditions) => {
    expect(conditionsOf(query)).toEqual([conditions])
  })

  test.each([
    ['running', { taskId: 'x' }, ['task_id = ?', '+status = ?']],
    ['running', { pool: 'x' }, ['pool = ?', '+status = ?']],
    ['running', { tenant: 'x' }, ['+tenant = ?', 'status = ?']],
    ['terminated', { tenant: 'x' }, ['tenant = ?', '+status = ?']],
    ['terminated', { agentType: 'x' }, ['agent_type = ?', '+status = ?']],
    ['terminated', { provider: 'x' }, ['+provider = ?', 'status = ?']],
  ] satisfies [FleetQuery['status'], FleetQuery, string[]][])(
    'a status of %s leads before what is less selective: %j',
    (status, query, conditions) => {
      expect(conditionsOf({ ...query, status })).toEqual([conditions])
    },
  )

  test('each of several statuses has a statement', () => {
    const statements = statementsOf({ status: ['running', 'failed'], limit: 1 })
    expect(statements.map(({ values }) => values)).toEqual([
      [Number.MAX_SAFE_INTEGER, 'running', 2],
      [Number.MAX_SAFE_INTEGER, 'failed', 2],
    ])
  })
})

test('a server has statistics, and is told nothing', () => {
  const server = {} as SqlStatements['server']
  expect(conditionsOf({ sessionId: 's', tenant: 'n' }, server)).toEqual([
    ['session_id = ?', 'tenant = ?'],
  ])
})
