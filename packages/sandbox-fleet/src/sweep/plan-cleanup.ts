import { type FleetContext, ruleContext } from '../fleet-context.ts'
import type { KillReason, SandboxRecord } from '../ledger/sandbox-record.ts'
import type { FleetPage } from '../store/fleet-store.ts'
import { type CleanupMode, judge, type SpareReason } from './verdict.ts'

const PAGE = 100

/** A sandbox to end, as it was when it was looked at. */
export interface CleanupCandidate {
  readonly record: SandboxRecord
  readonly action: 'destroy' | 'retry'
  readonly reason: KillReason
  readonly detail: string
}

export interface CleanupPlan {
  readonly mode: CleanupMode
  readonly candidates: readonly CleanupCandidate[]
  readonly examined: number
  readonly unreadable: number
  readonly spared: Readonly<Partial<Record<SpareReason, number>>>
  /** Where the next pass resumes; absent when everything was examined. */
  readonly nextCursor?: string
}

/** Finds what a cleanup would end, in the ledger alone. Reads a bounded number of records. */
export async function planCleanup(
  context: FleetContext,
  mode: CleanupMode,
  cursor?: string,
): Promise<CleanupPlan> {
  const candidates: CleanupCandidate[] = []
  const spared: Partial<Record<SpareReason, number>> = {}
  let examined = 0
  let unreadable = 0
  let next = cursor
  do {
    const page = await readPage(context, mode, next)
    unreadable += page.unreadable
    for (const record of page.records) {
      examined += 1
      const found = weigh(record, context, mode)
      if (typeof found === 'string') spared[found] = (spared[found] ?? 0) + 1
      else candidates.push(found)
    }
    next = page.nextCursor
  } while (next !== undefined && examined < context.policy.maxExaminedPerPass)
  const more = next !== undefined && { nextCursor: next }
  return { mode, candidates, examined, unreadable, spared, ...more }
}

function readPage(
  context: FleetContext,
  mode: CleanupMode,
  cursor: string | undefined,
): Promise<FleetPage> {
  const { clock, environment, store } = context
  const rest = cursor !== undefined && { cursor }
  if (mode !== 'emergency') {
    return store.due({ environment, until: clock.now(), limit: PAGE, ...rest })
  }
  const status = ['provisioning', 'running', 'failed', 'terminating'] as const
  return store.list({ environment, status, limit: PAGE, ...rest })
}

function weigh(
  record: SandboxRecord,
  context: FleetContext,
  mode: CleanupMode,
): CleanupCandidate | SpareReason {
  const verdict = judge(record, { ...ruleContext(context), rules: context.rules, mode })
  if (verdict.action === 'spare') return verdict.because
  if (verdict.action === 'destroy') return { record, ...verdict }
  return { record, action: 'retry', ...killOf(record) }
}

function killOf({ kill, owed }: SandboxRecord): Pick<CleanupCandidate, 'reason' | 'detail'> {
  const attempts = owed?.attempts ?? 0
  const { reason = 'operator', detail = '' } = kill ?? {}
  return { reason, detail: `${detail}; tried ${attempts} times` }
}
