import type { SqlRow } from '../../sql-database.ts'
import { SqlError } from '../../sql-error.ts'
import { fromSqlText } from '../../sql-text.ts'

/** What is stored is not what was once written. */
export function damaged(what: string, cause?: unknown): SqlError {
  return new SqlError('corrupt', `${what} cannot be read`, { cause })
}

/** @throws {SqlError} `corrupt` */
export function numberColumn(row: SqlRow, name: string): number {
  const value = row[name]
  if (typeof value !== 'number') throw damaged(name)
  return value
}

/** @throws {SqlError} `corrupt` */
export function textColumn(row: SqlRow, name: string): string {
  const value = row[name]
  if (typeof value !== 'string') throw damaged(name)
  return value
}

/** A text that `toSqlText` made. @throws {SqlError} `corrupt` */
export function nameColumn(row: SqlRow, name: string): string {
  try {
    return fromSqlText(textColumn(row, name))
  } catch (error) {
    throw damaged(name, error)
  }
}

/** `undefined` for NULL. @throws {SqlError} `corrupt` */
export function optionalColumn<T>(
  row: SqlRow,
  name: string,
  read: (row: SqlRow, name: string) => T,
): T | undefined {
  return row[name] === null ? undefined : read(row, name)
}

/** A value that was stored as JSON. @throws {SqlError} `corrupt` */
export function jsonColumn(row: SqlRow, name: string): unknown {
  try {
    return JSON.parse(textColumn(row, name))
  } catch (error) {
    throw damaged(name, error)
  }
}

/** A JSON value of one shape. @throws {SqlError} `corrupt` */
export function shapedColumn<T>(
  row: SqlRow,
  name: string,
  isShaped: (value: unknown) => value is T,
): T {
  const value = jsonColumn(row, name)
  if (!isShaped(value)) throw damaged(name)
  return value
}
