import { FleetError } from '@helix-agents/core/runtime'
import type { FleetPage, FleetQuery, FleetStore, SandboxRecord } from '@helix-agents/sandbox-fleet'
import { expect } from 'vitest'
import { applyEvent, createRecord } from '../../src/ledger/lifecycle.ts'
import type { NewSandbox } from '../../src/ledger/sandbox-record.ts'

/** What every store of the ledger does; each is run on an empty one. */
export interface FleetStoreBehaviour {
  readonly id: string
  readonly run: (store: FleetStore) => Promise<void>
}

export const NOW = 1_700_000_000_000

export function newRecord(id: string, fields: Partial<NewSandbox> = {}): SandboxRecord {
  return createRecord({
    id,
    provider: 'p',
    environment: 'test',
    createdAt: NOW,
    provisionDeadlineAt: NOW + 1000,
    ...fields,
  })
}

export function started(record: SandboxRecord, at = NOW): SandboxRecord {
  return applyEvent(record, { type: 'started' }, at)
}

export function killed(record: SandboxRecord, retryAt = NOW): SandboxRecord {
  const kill = { reason: 'operator', detail: 'test', by: 'test' } as const
  return applyEvent(record, { type: 'terminate', kill, retryAt }, NOW)
}

export function gone(record: SandboxRecord): SandboxRecord {
  return applyEvent(record, { type: 'vanish', detail: 'test' }, NOW)
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'no error'
  } catch (error) {
    return FleetError.isInstance(error) ? error.code : String(error)
  }
}

export async function addRunning(
  store: FleetStore,
  id: string,
  fields: Partial<NewSandbox> = {},
): Promise<SandboxRecord> {
  const record = await store.create(newRecord(id, fields))
  const next = started(record)
  await store.update(next)
  return next
}

export function idsOf({ records }: FleetPage): readonly string[] {
  return records.map(({ id }) => id)
}

export async function listAll(store: FleetStore, query: FleetQuery): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await store.list({ ...query, ...(cursor !== undefined && { cursor }) })
    expect(page.unreadable).toBe(0)
    ids.push(...idsOf(page))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return ids
}
