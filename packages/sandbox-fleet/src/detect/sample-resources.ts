import { FleetError } from '@helix-agents/core/runtime'
import { type FleetContext, targetOf } from '../fleet-context.ts'
import { withSample } from '../ledger/record-changes.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import { changeRecord } from '../store/change-record.ts'
import { inParallel } from '../sweep/in-parallel.ts'

const MAX_SAMPLED = 50

/**
 * Measures what long-running sandboxes use, where their drivers support it: a few each time, the
 * newest first. Never rejects on what a driver does.
 * @returns how many were measured
 * @throws {FleetError} `unavailable`
 */
export async function sampleResources(context: FleetContext): Promise<number> {
  const { clock, drivers, environment, policy, store } = context
  const isMeasurable = [...drivers.values()].some(({ canSample }) => canSample)
  if (!isMeasurable) return 0
  const { records } = await store.list({
    environment,
    status: 'running',
    createdBefore: clock.now() - policy.warnAfterMs,
    limit: MAX_SAMPLED,
  })
  let sampled = 0
  await inParallel(records, policy.concurrency, async (record) => {
    if (await sampleOne(context, record)) sampled += 1
  })
  return sampled
}

async function sampleOne(context: FleetContext, record: SandboxRecord): Promise<boolean> {
  const driver = context.drivers.get(record.provider)
  if (driver === undefined || !driver.canSample) return false
  try {
    const { cpuPercent, memoryMb } = await driver.resources(targetOf(record))
    const sample = { at: context.clock.now(), cpuPercent, memoryMb }
    await changeRecord(context.store, record.id, (current) =>
      current.status === 'running' && current.generation === record.generation
        ? withSample(current, sample)
        : undefined,
    )
    return true
  } catch (error) {
    if (FleetError.isInstance(error) && error.code !== 'unavailable') return false
    throw error
  }
}
