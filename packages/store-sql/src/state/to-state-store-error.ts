import { StateStoreError } from '@helix-agents/core'
import { SqlError, type SqlErrorKind } from '../sql-error.ts'

interface Explanation {
  readonly detail: string
  readonly hint: string
}

const EXPLANATIONS: Readonly<Record<Exclude<SqlErrorKind, 'corrupt' | 'too-large'>, Explanation>> =
  {
    busy: {
      detail: 'another process holds the lock of the database',
      hint: 'Try again; if it stays, end the process that keeps a transaction open.',
    },
    full: {
      detail: 'no space is left for the database',
      hint: 'Free some space, then try again: nothing of this write is stored.',
    },
    'read-only': {
      detail: 'the database can only be read',
      hint: 'Open it for writing, and check who may write the file and its directory.',
    },
    io: {
      detail: 'the file of the database cannot be opened, read or written',
      hint: 'Check the disk and who may read the file and its directory, then try again.',
    },
    moved: {
      detail: 'the file of the database was moved, replaced or removed while it was open',
      hint: 'Stop this process, put the file back, then start it: what it wrote since is in the moved file.',
    },
    unreachable: {
      detail: 'the database cannot be reached',
      hint: 'Check that the server runs and its address, then try again.',
    },
    denied: {
      detail: 'the database does not let this user in, or not do this',
      hint: 'Check the user, the password and the rights.',
    },
    timeout: {
      detail: 'the database took too long for a statement',
      hint: 'Try again; if it stays, inspect what the server is busy with.',
    },
    closed: { detail: 'the database was closed', hint: 'Open it again.' },
    failed: { detail: 'the database rejected the statement', hint: 'See the cause.' },
  }

/** What a store throws for an error of its database; anything else stays what it is. */
export function toStateStoreError(error: unknown, sessionId: string): unknown {
  if (!(error instanceof SqlError)) return error
  if (error.kind === 'corrupt') {
    return new StateStoreError('corrupt', sessionId, 'what is stored cannot be read', {
      cause: error,
    })
  }
  if (error.kind === 'too-large') {
    return new StateStoreError(
      'not-storable',
      sessionId,
      'a value is larger than the database takes',
      {
        cause: error,
      },
    )
  }
  const { detail, hint } = EXPLANATIONS[error.kind]
  return new StateStoreError('unavailable', sessionId, detail, { cause: error, hint })
}
