import { FleetError } from '@helix-agents/core/runtime'
import { SqlError } from '@helix-agents/store-sql'

/** What a store throws for an error of its database; anything else stays what it is. */
export function toFleetError(error: unknown): unknown {
  if (!(error instanceof SqlError)) return error
  if (error.kind === 'corrupt') return damaged('', error)
  return new FleetError('unavailable', `the database of the ledger failed (${error.kind})`, {
    cause: error,
  })
}

export function damaged(sandboxId: string, cause: unknown): FleetError {
  const what = sandboxId === '' ? 'the ledger' : 'the record of this sandbox'
  return new FleetError('corrupt', `${what} cannot be read`, { sandboxId, cause })
}
