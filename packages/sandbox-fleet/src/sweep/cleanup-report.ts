import type { KillReason } from '../ledger/sandbox-record.ts'
import type { CleanupMode, SpareReason } from './verdict.ts'

/**
 * `destroyed`: confirmed gone. `vanished`: it was gone already. `owed`: the destroy is not
 * confirmed and is retried. `unknown`: its state is unknown, it was left as it is.
 * `owner-alive`: its owner still runs. `changed`: it was used or ended concurrently.
 * `no-driver`: no driver of this fleet manages its provider. `over-budget`: the pass had ended as many as it
 * may. `planned`: a dry run.
 */
export type CleanupOutcome =
  | 'destroyed'
  | 'vanished'
  | 'owed'
  | 'unknown'
  | 'owner-alive'
  | 'changed'
  | 'no-driver'
  | 'over-budget'
  | 'planned'

/** One sandbox that a pass wanted to end. */
export interface CleanupItem {
  readonly id: string
  readonly provider: string
  readonly action: 'destroy' | 'retry'
  readonly reason: KillReason
  /** One sentence with the evidence. */
  readonly detail: string
  readonly outcome: CleanupOutcome
}

/**
 * `completed`: everything was looked at. `more`: a limit of the pass was reached, the next one goes
 * on. `lease-held`: another sweeper works. `lease-lost`: another one took over. `store-failed`: the
 * ledger did not answer.
 */
export type PassOutcome = 'completed' | 'more' | 'lease-held' | 'lease-lost' | 'store-failed'

/** What a cleanup did. */
export interface CleanupReport {
  readonly mode: CleanupMode
  readonly isDryRun: boolean
  readonly outcome: PassOutcome
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds since the epoch. */
  readonly finishedAt: number
  /** Records looked at. */
  readonly examined: number
  /** Sandboxes to end. */
  readonly found: number
  /** Sandboxes that are confirmed gone, by this pass or without it. */
  readonly cleaned: number
  /** Each sandbox that the pass wanted to end. */
  readonly items: readonly CleanupItem[]
  /** Number of sandboxes left alone, by reason. */
  readonly spared: Readonly<Partial<Record<SpareReason, number>>>
  /** Records that could not be read. */
  readonly unreadable: number
  /** Errors of the pass as a whole. */
  readonly error?: string
}
