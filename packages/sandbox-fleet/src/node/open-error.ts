import { FleetError } from '@helix-agents/core/runtime'
import { SqlError, type SqlErrorKind } from '@helix-agents/store-sql'
import { toFleetError } from '../sql/to-fleet-error.ts'

const REASONS: Readonly<Partial<Record<SqlErrorKind, readonly [message: string, hint: string]>>> = {
  busy: ['another process holds its lock', 'Try again, or raise `busyTimeoutMs`.'],
  full: ['no space is left', 'Free space on its disk.'],
  io: ['no such file, or its disk failed', 'Check the path. What is only read is not made.'],
  'read-only': [
    'permission denied',
    'The process must be able to write the file and its directory, also for reading.',
  ],
}

/** What opening a ledger throws for an error of its database; anything else stays what it is. */
export function toOpenError(error: unknown): unknown {
  if (!(error instanceof SqlError)) return error
  const cause = error
  if (error.kind === 'corrupt') {
    return new FleetError('corrupt', 'the ledger is no SQLite database, or is damaged', {
      cause,
      hint: 'Check the path. If it is the right one, restore a backup. The file was not changed.',
    })
  }
  const [reason, hint] = REASONS[error.kind] ?? []
  if (reason === undefined || hint === undefined) return toFleetError(error)
  return new FleetError('unavailable', `the ledger cannot be opened: ${reason}`, { cause, hint })
}
