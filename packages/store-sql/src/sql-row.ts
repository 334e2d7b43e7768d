import type { SqlRow } from './sql-database.ts'
import { SqlError } from './sql-error.ts'

/**
 * A row of a driver as the port has it: the tables are strict, without blobs and big integers.
 * @throws {SqlError} `corrupt` for a column of another type.
 */
export function toSqlRow(row: Readonly<Record<string, unknown>>): SqlRow {
  if (isRow(row)) return row
  throw new SqlError('corrupt', 'a column has a type that is never stored')
}

function isRow(row: Readonly<Record<string, unknown>>): row is SqlRow {
  for (const name in row) {
    const value = row[name]
    if (typeof value !== 'string' && typeof value !== 'number' && value !== null) return false
  }
  return true
}
