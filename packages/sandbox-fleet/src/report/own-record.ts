import { FleetError } from '@helix-agents/core/runtime'
import type { FleetContext } from '../fleet-context.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import { changeRecord } from '../store/change-record.ts'
import { unknownSandbox } from '../store/revive-record.ts'
import type { SandboxDescription } from './fleet-reporter.ts'

/**
 * Several environments may share a ledger, and ids are often made of names: what another environment
 * or tenant has under an id, or another provider, is left alone.
 * @throws {FleetError} `already-exists`
 */
export function assertSame(
  { environment }: FleetContext,
  record: SandboxRecord,
  { id, provider, tenant }: SandboxDescription,
): void {
  const isOther =
    record.environment !== environment ||
    record.provider !== provider ||
    (tenant !== undefined && record.tenant !== undefined && tenant !== record.tenant)
  if (!isOther) return
  const text = `the sandbox ${id} is of another environment, provider or tenant`
  throw new FleetError('already-exists', text, { sandboxId: id })
}

/**
 * Changes a record of this environment.
 * @throws {FleetError} `unknown-sandbox`, `conflict`, and whatever `change` throws.
 */
export function changeOwn(
  { environment, store }: FleetContext,
  id: string,
  change: (record: SandboxRecord) => SandboxRecord | undefined,
): Promise<SandboxRecord> {
  return changeRecord(store, id, (record) => {
    if (record.environment !== environment) throw unknownSandbox(id)
    return change(record)
  })
}

export function isUsable({ status }: SandboxRecord): boolean {
  return status === 'running' || status === 'provisioning'
}
