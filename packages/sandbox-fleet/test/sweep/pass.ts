import { ManualClock } from '@helix-agents/core/testing'
import { MemoryFleetStore, type SandboxRecord } from '@helix-agents/sandbox-fleet'
import { endCandidate, type Pass } from '../../src/sweep/end-candidate.ts'
import type { CleanupCandidate } from '../../src/sweep/plan-cleanup.ts'
import { SweepLease } from '../../src/sweep/sweep-lease.ts'
import type { CleanupMode } from '../../src/sweep/verdict.ts'
import { finish, type Fleetlet, setup, type Setup } from '../fleet-harness.ts'

/** A pass that may end, retry and ask as much as is said; as much as it likes by default. */
export async function passOf(
  { context }: Pick<Fleetlet, 'context'>,
  { mode = 'scheduled', ...allowed }: { mode?: CleanupMode } & Partial<Pass['budget']> = {},
): Promise<Pass> {
  const lease = await SweepLease.acquire(context)
  if (lease === undefined) throw new Error('another sweeper works')
  const budget = { kills: 9, retries: 9, probes: 9, ...allowed }
  return { context, lease, mode, budget, used: { kills: 0, retries: 0, probes: 0 } }
}

export function toEnd(
  record: SandboxRecord,
  action: CleanupCandidate['action'] = 'destroy',
): CleanupCandidate {
  return { record, action, reason: 'idle', detail: 'test' }
}

export function end(fleet: Fleetlet, candidate: CleanupCandidate, pass: Pass) {
  return finish(fleet.clock, endCandidate(candidate, pass))
}

/** A clock whose time leaps, while its timers go on. */
export class LeapingClock extends ManualClock {
  aheadMs = 0

  override now(): number {
    return super.now() + this.aheadMs
  }
}

/** A fleet whose ledger has a clock, which answers slowly; that of the process may leap. */
export function withLedgerClock(options: Setup = {}) {
  const clock = new LeapingClock(1_700_000_000_000)
  const store = Object.assign(new MemoryFleetStore(), {
    now: async (): Promise<number> => {
      await clock.sleep(1)
      return clock.now() - clock.aheadMs
    },
  })
  return { ...setup({ ...options, store, clock }), clock, store }
}
