import { existsSync } from 'node:fs'
import { StateStoreError } from '@helix-agents/core'
import { SqlError, toStateStoreError } from '@helix-agents/store-sql'

interface Opened {
  readonly file: string
  readonly readOnly: boolean
}

/** What opening a file throws. It names the file, whose path often comes from elsewhere. */
export function toOpenError(error: unknown, opened: Opened): unknown {
  const known = explain(error, opened)
  if (!StateStoreError.isInstance(known)) return known
  const { code, message, hint, cause } = known
  return new StateStoreError(code, '', `${opened.file}: ${message}`, {
    ...(cause !== undefined && { cause }),
    ...(hint !== undefined && { hint }),
  })
}

function explain(error: unknown, { file, readOnly }: Opened): unknown {
  if (!(error instanceof SqlError)) return error
  if (error.kind === 'corrupt') {
    return new StateStoreError('corrupt', '', 'it is no SQLite database, or is damaged', {
      cause: error,
      hint: 'Check the path. If it is the right one, restore a backup. The file was not changed.',
    })
  }
  if (error.kind === 'read-only') {
    return new StateStoreError('unavailable', '', 'permission denied', {
      cause: error,
      hint: 'The process must be able to write the file and its directory, also for reading.',
    })
  }
  if (error.kind === 'io' && readOnly && !existsSync(file)) {
    return new StateStoreError('unavailable', '', 'there is no such file', {
      cause: error,
      hint: 'Check the path. A database is made only when it is opened for writing.',
    })
  }
  return toStateStoreError(error, '')
}
