import { type SqlStatements, toSqlText } from '@helix-agents/store-sql'
import {
  COUNT_NAMES,
  type countChanges,
  type CountName,
  type FleetCounts,
  NO_COUNTS,
} from '../ledger/record-counts.ts'

const ADD =
  'INSERT INTO helix_fleet_counts (environment, name, value) VALUES (?, ?, ?)' +
  ' ON CONFLICT (environment, name) DO UPDATE SET value = helix_fleet_counts.value + excluded.value'
const OF_ENVIRONMENT = 'SELECT name, value FROM helix_fleet_counts WHERE environment = ?'

export function addCounts(
  sql: SqlStatements,
  environment: string,
  changes: ReturnType<typeof countChanges>,
): void {
  const label = toSqlText(environment)
  for (const [name, change] of changes) sql.run(ADD, label, name, change)
}

export function readCounts(sql: SqlStatements, environment: string | undefined): FleetCounts {
  const rows =
    environment === undefined
      ? sql.all('SELECT name, sum(value) AS value FROM helix_fleet_counts GROUP BY name')
      : sql.all(OF_ENVIRONMENT, toSqlText(environment))
  const counts: Record<CountName, number> = { ...NO_COUNTS }
  for (const { name, value } of rows) {
    const known = COUNT_NAMES.find((one) => one === name)
    if (known !== undefined) counts[known] = Number(value)
  }
  return counts
}
