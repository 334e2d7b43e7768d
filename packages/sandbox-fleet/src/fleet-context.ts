import { HelixError, type Logger } from '@helix-agents/core'
import { causeText, errorText } from './error-text.ts'
import type { GuardedDriver } from './driver/guarded-driver.ts'
import type { SandboxTarget } from './driver/fleet-driver.ts'
import type { LedgerClock } from './ledger-clock.ts'
import type { KillReason, SandboxError, SandboxRecord } from './ledger/sandbox-record.ts'
import type { FleetPolicy } from './safety/fleet-policy.ts'
import type { LeaseWatch } from './safety/lease-watch.ts'
import type { RuleContext, SafetyRules } from './safety/safety-rules.ts'
import type { FleetStore } from './store/fleet-store.ts'

/** An event of a sandbox, for metrics and data points. */
export interface FleetEvent {
  readonly type:
    | 'created'
    | 'started'
    | 'failed'
    | 'kill'
    | 'destroyed'
    | 'vanished'
    | 'destroy-failed'
    | 'timeout'
    | 'stuck'
  readonly sandboxId: string
  readonly provider: string
  readonly environment: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Why it was ended; on events of a destroy. */
  readonly reason?: KillReason
}

/** What the parts of a fleet share. */
export interface FleetContext {
  readonly store: FleetStore
  /** By provider. */
  readonly drivers: ReadonlyMap<string, GuardedDriver>
  readonly environment: string
  readonly policy: FleetPolicy
  readonly rules: SafetyRules
  /** Decides which leases may be judged by the clock of this process. */
  readonly leases: LeaseWatch
  /** The clock of the ledger where it has one, else that of this process. */
  readonly clock: LedgerClock
  readonly random: () => number
  readonly logger: Logger
  /** Identifies this process. */
  readonly instanceId: string
  /** Never throws. */
  readonly emit: (type: FleetEvent['type'], record: SandboxRecord) => void
}

/** What rules depend on at this moment. */
export function ruleContext({ leases, clock, environment, policy }: FleetContext): RuleContext {
  const isProven = (record: SandboxRecord): boolean => leases.isProven(record)
  return { now: clock.now(), environment, policy, isProven }
}

/** A record as the target of a driver call. */
export function targetOf({ id, generation }: SandboxRecord): SandboxTarget {
  return { id, generation }
}

/** An error as the ledger keeps it. */
export function toSandboxError(error: unknown): Omit<SandboxError, 'at'> {
  const cause = causeText(error)
  const known = HelixError.isInstance(error)
    ? { code: error.code, message: error.message }
    : { code: 'unknown', message: errorText(error) }
  return { ...known, ...(cause !== undefined && { cause }) }
}
