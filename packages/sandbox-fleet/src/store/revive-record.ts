import { FleetError } from '@helix-agents/core/runtime'
import { applyEvent } from '../ledger/lifecycle.ts'
import { activeOf, type FleetCounts } from '../ledger/record-counts.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'

/**
 * What is stored for a new record: itself, or the next generation of one of this environment that
 * is gone.
 * @throws {FleetError} `already-exists`
 */
export function reviveRecord(
  existing: SandboxRecord | undefined,
  record: SandboxRecord,
): SandboxRecord {
  if (existing === undefined) return record
  if (existing.status !== 'terminated' || existing.environment !== record.environment) {
    throw new FleetError('already-exists', `a sandbox ${record.id} is ${existing.status}`, {
      sandboxId: record.id,
    })
  }
  const revived = applyEvent(existing, { type: 'provision', sandbox: record }, record.createdAt)
  if (record.status !== 'running') return revived
  return applyEvent(revived, { type: 'started' }, record.lastActivityAt)
}

/** @throws {FleetError} `capacity-exhausted` */
export function assertRoom(counts: FleetCounts, maxActive: number | undefined): void {
  if (maxActive === undefined || activeOf(counts) < maxActive) return
  throw new FleetError('capacity-exhausted', 'Maximum sandbox limit reached', {
    hint: 'Try again when another sandbox has ended.',
  })
}

/** @throws {FleetError} `unknown-sandbox`, `conflict` */
export function assertFollows(existing: SandboxRecord | undefined, next: SandboxRecord): void {
  const sandboxId = next.id
  if (existing === undefined) throw unknownSandbox(sandboxId)
  if (existing.version !== next.version - 1) {
    throw new FleetError('conflict', 'the record of this sandbox was changed', { sandboxId })
  }
}

export function unknownSandbox(sandboxId: string): FleetError {
  return new FleetError('unknown-sandbox', `no sandbox ${sandboxId} is known`, { sandboxId })
}

export function leaseLost(): FleetError {
  return new FleetError('lease-lost', 'another sweeper took over')
}

export function noDriver(sandboxId: string): FleetError {
  return new FleetError('not-supported', 'no driver of this fleet manages the sandbox', {
    sandboxId,
  })
}
