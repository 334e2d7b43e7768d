import { WorkspaceFailedError } from '@helix-agents/core'
import type { FileStoreSqlRow } from '../ports.ts'

/** @throws {WorkspaceFailedError} `provider-failed` when the stored row is damaged. */
export function numberOf(row: FileStoreSqlRow, column: string): number {
  const value = row[column]
  if (typeof value === 'number') return value
  throw damaged(column)
}

export function textOf(row: FileStoreSqlRow, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  throw damaged(column)
}

export function bytesOf(row: FileStoreSqlRow, column: string): Uint8Array<ArrayBuffer> {
  const value = row[column]
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  throw damaged(column)
}

export function optionalNumberOf(row: FileStoreSqlRow, column: string): number | undefined {
  const value = row[column]
  return value === null || value === undefined ? undefined : numberOf(row, column)
}

function damaged(column: string): WorkspaceFailedError {
  return new WorkspaceFailedError(
    'provider-failed',
    `a stored row of the file store is damaged: ${column}`,
  )
}
