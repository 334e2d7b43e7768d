import { FleetError } from '@helix-agents/core/runtime'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import type { FleetStore, LeaseFence } from './fleet-store.ts'
import { unknownSandbox } from './revive-record.ts'

const MAX_ATTEMPTS = 8

/**
 * Reads a record, changes it and stores the result; again when another writer was faster. `change`
 * decides each time anew, on what is stored by then; undefined leaves it as it is.
 * @returns what is stored in the end
 * @throws {FleetError} `unknown-sandbox`, `conflict` when others are always faster, and whatever
 * `change` throws.
 */
export async function changeRecord(
  store: FleetStore,
  id: string,
  change: (record: SandboxRecord) => SandboxRecord | undefined,
  options: { readonly fence?: LeaseFence } = {},
): Promise<SandboxRecord> {
  for (let attempt = 1; ; attempt += 1) {
    const record = await store.get(id)
    if (record === undefined) throw unknownSandbox(id)
    const next = change(record)
    if (next === undefined) return record
    try {
      await store.update(next, options)
      return next
    } catch (error) {
      const isConflict = FleetError.isInstance(error) && error.code === 'conflict'
      if (!isConflict || attempt === MAX_ATTEMPTS) throw error
    }
  }
}
