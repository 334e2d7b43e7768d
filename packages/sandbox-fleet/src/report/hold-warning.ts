import type { FleetContext } from '../fleet-context.ts'
import { fleetMessages } from '../fleet-messages.ts'
import { runCallback } from '../run-callback.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'

/** A run has held a sandbox for so long that it loses it soon. */
export interface HoldEnding {
  readonly sandboxId: string
  readonly provider: string
  /** The session that uses it; absent where none was reported. */
  readonly sessionId?: string
  /** When a cleanup may end it, in milliseconds since the epoch, by the time of the ledger. */
  readonly endsAt: number
  /** Milliseconds from now until then. */
  readonly remainingMs: number
}

/** Options of a reporter. */
export interface ReporterOptions {
  /**
   * Called once for each session, `holdWarningMs` before the fleet ends a sandbox that the session
   * has held for `maxHoldMs`: time to interrupt the session, which releases the sandbox and keeps
   * its files. Not awaited; what it throws or rejects with is logged.
   */
  readonly onHoldEnding?: (warning: HoldEnding) => void
}

/** Warns the sessions of a sandbox when its hold ends soon. @returns whether it warned. */
export function warnOfHoldEnd(
  { clock, logger, policy }: FleetContext,
  { holdDeadlineAt, id, provider }: SandboxRecord,
  { sessions, onHoldEnding }: ReporterOptions & { readonly sessions: ReadonlySet<string> },
): boolean {
  if (holdDeadlineAt === undefined) return false
  const remainingMs = holdDeadlineAt - clock.now()
  if (remainingMs > policy.holdWarningMs) return false
  for (const sessionId of sessions) {
    const whose = sessionId !== '' && { sessionId }
    const warning = { sandboxId: id, provider, ...whose, endsAt: holdDeadlineAt, remainingMs }
    logger.warn(warning, fleetMessages.holdEnding)
    runCallback(
      () => onHoldEnding?.(warning),
      (err) => logger.warn({ err, sandboxId: id }, fleetMessages.reportLost),
    )
  }
  return true
}
