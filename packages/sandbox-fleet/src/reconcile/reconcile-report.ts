import type { ListedSandbox } from '../driver/fleet-driver.ts'
import type { SandboxStatus } from '../ledger/sandbox-record.ts'
import type { PassOutcome } from '../sweep/cleanup-report.ts'

/**
 * `heal-record`: the ledger has it and the provider does not seem to. `end-orphan`: the provider
 * has it and the ledger has no record. `destroy-again`: the ledger says it is gone and the
 * provider still has it.
 */
export type ReconcileKind = 'heal-record' | 'end-orphan' | 'destroy-again'

/** One difference between the ledger and a provider. */
export interface ReconcileAction {
  readonly kind: ReconcileKind
  readonly id: string
  readonly provider: string
  /** State in the ledger; absent when the ledger has no record. */
  readonly status?: SandboxStatus
  /** State at the provider. */
  readonly listed?: ListedSandbox
}

/**
 * `healed`: the record says now that it is gone. `adopted`: it is in the ledger now, and watched.
 * `present`: it is there after all. `spared`: too young, without the label of this deployment, or
 * its owner runs. The others are as in a cleanup.
 */
export type ReconcileOutcome =
  | 'healed'
  | 'adopted'
  | 'destroyed'
  | 'owed'
  | 'present'
  | 'spared'
  | 'unknown'
  | 'changed'
  | 'over-budget'
  | 'planned'

/** One difference and what came of it. */
export interface ReconcileItem extends ReconcileAction {
  readonly outcome: ReconcileOutcome
}

/** A provider from whose answer nothing was concluded. */
export interface RejectedListing {
  readonly provider: string
  /** `partial`: some may be missing; `failed`: no listing. */
  readonly because: 'partial' | 'failed'
  readonly detail: string
}

/** What a comparison with the providers found and did. */
export interface ReconcileReport {
  readonly isDryRun: boolean
  readonly outcome: PassOutcome
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds since the epoch. */
  readonly finishedAt: number
  /** Each difference that was found. */
  readonly items: readonly ReconcileItem[]
  /** Providers whose listing was rejected. */
  readonly rejected: readonly RejectedListing[]
  /** Entries of lists whose id cannot be one, or whose record cannot be read. */
  readonly skipped: number
  /** Errors of the pass as a whole. */
  readonly error?: string
}
