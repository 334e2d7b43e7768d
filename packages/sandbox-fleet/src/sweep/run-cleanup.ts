import { FleetError } from '@helix-agents/core/runtime'
import { errorText } from '../error-text.ts'
import type { FleetContext } from '../fleet-context.ts'
import { fleetMessages } from '../fleet-messages.ts'
import { recordHeartbeat, stateKey } from '../fleet-stats.ts'
import type { FleetPolicy } from '../safety/fleet-policy.ts'
import type { CleanupItem, CleanupOutcome, CleanupReport, PassOutcome } from './cleanup-report.ts'
import { endCandidate, type Pass, type PassBudget } from './end-candidate.ts'
import { inParallel } from './in-parallel.ts'
import { type CleanupCandidate, type CleanupPlan, planCleanup } from './plan-cleanup.ts'
import { SweepLease } from './sweep-lease.ts'
import type { CleanupMode } from './verdict.ts'

const CURSOR = 'cleanup-cursor'
/** A backlog is to be gone after about so many passes. */
const BACKLOG_PASSES = 10
/** Questions of a pass for each end that it may make: some sandboxes are spared when asked about. */
const PROBES_PER_KILL = 5
const NOTHING_FOUND = { candidates: [], examined: 0, unreadable: 0, spared: {} }
const CLEANED: readonly CleanupOutcome[] = ['destroyed', 'vanished']

/** Options of `cleanup` and `emergency`. */
export interface CleanupOptions {
  /** Only reports what would be ended. Nothing is asked of a provider, nothing is changed. */
  readonly dryRun?: boolean
}

/** The state of one pass, from which its report is made. */
interface Progress {
  readonly mode: CleanupMode
  readonly isDryRun: boolean
  startedAt: number
  plan: CleanupPlan | undefined
  /** By candidate; absent while it was not tried. */
  outcomes: Map<CleanupCandidate, CleanupOutcome>
}

/** One pass of cleanup. Never rejects: what went wrong is in the report. */
export async function runCleanup(
  context: FleetContext,
  mode: CleanupMode,
  options: CleanupOptions = {},
): Promise<CleanupReport> {
  const progress: Progress = {
    mode,
    isDryRun: options.dryRun ?? false,
    startedAt: context.clock.now(),
    plan: undefined,
    outcomes: new Map(),
  }
  context.logger.info({ mode, dryRun: progress.isDryRun }, fleetMessages.cleanupStarted)
  try {
    await context.clock.keepTime()
    progress.startedAt = context.clock.now()
    const outcome = progress.isDryRun
      ? await planOnly(context, progress)
      : await planAndApply(context, progress)
    return close(context, progress, outcome)
  } catch (err) {
    return close(context, progress, outcomeOf(err), err)
  }
}

async function planOnly(context: FleetContext, progress: Progress): Promise<PassOutcome> {
  const plan = await find(context, progress)
  for (const candidate of plan.candidates) progress.outcomes.set(candidate, 'planned')
  return plan.nextCursor === undefined ? 'completed' : 'more'
}

async function planAndApply(context: FleetContext, progress: Progress): Promise<PassOutcome> {
  const lease = await SweepLease.acquire(context)
  if (lease === undefined) return 'lease-held'
  try {
    const cursor = await readCursor(context, progress.mode)
    const plan = await findFrom(context, progress, cursor)
    const isDone = await apply(context, progress, plan, lease)
    await writeCursor(context, progress.mode, plan.nextCursor ?? '')
    await recordHeartbeat(context, { cleanupAt: context.clock.now() })
    return isDone && plan.nextCursor === undefined && cursor === undefined ? 'completed' : 'more'
  } finally {
    await lease.release()
  }
}

async function find(
  context: FleetContext,
  progress: Progress,
  cursor?: string,
): Promise<CleanupPlan> {
  const plan = await planCleanup(context, progress.mode, cursor)
  progress.plan = plan
  const count = plan.candidates.length
  context.logger.info({ count, examined: plan.examined }, fleetMessages.found(count))
  return plan
}

/** A cursor of another release is none: the pass begins anew instead of failing for ever. */
async function findFrom(
  context: FleetContext,
  progress: Progress,
  cursor: string | undefined,
): Promise<CleanupPlan> {
  try {
    return await find(context, progress, cursor)
  } catch (error) {
    const isUnusable = FleetError.isInstance(error) && error.code === 'invalid-query'
    if (!isUnusable) throw error
    return find(context, progress)
  }
}

/** @returns whether every candidate was tried. */
async function apply(
  context: FleetContext,
  progress: Progress,
  plan: CleanupPlan,
  lease: SweepLease,
): Promise<boolean> {
  const { clock, logger, policy } = context
  const untilMs = progress.startedAt + policy.passTimeoutMs
  const pass: Pass = {
    context,
    lease,
    mode: plan.mode,
    budget: budgetOf(plan, policy),
    used: { kills: 0, retries: 0, probes: 0 },
  }
  let isDone = true
  await inParallel(inTurn(plan, pass), policy.concurrency, async (candidate) => {
    const outcome = clock.now() < untilMs ? await endCandidate(candidate, pass) : 'over-budget'
    progress.outcomes.set(candidate, outcome)
    if (outcome === 'over-budget') isDone = false
    const { id } = candidate.record
    if (!CLEANED.includes(outcome)) return
    logger.info({ sandboxId: id, reason: candidate.reason }, fleetMessages.cleanedUp(id))
  })
  return isDone
}

/** Where there is a backlog a pass ends more: a tenth of what it found, up to a limit. */
function budgetOf({ candidates, mode }: CleanupPlan, policy: FleetPolicy): PassBudget {
  const retries = policy.maxRetriesPerPass
  const { maxBacklogKillsPerPass, maxEmergencyKills, maxKillsPerPass } = policy
  const found = candidates.filter(({ action }) => action === 'destroy').length
  const share = Math.min(Math.ceil(found / BACKLOG_PASSES), maxBacklogKillsPerPass)
  const kills = mode === 'emergency' ? maxEmergencyKills : Math.max(maxKillsPerPass, share)
  return { kills, retries, probes: kills * PROBES_PER_KILL }
}

/** When not all can be probed, the start varies: otherwise the same ones would be left out each time. */
function inTurn({ candidates }: CleanupPlan, { budget, context }: Pass): CleanupCandidate[] {
  if (candidates.length <= budget.probes) return [...candidates]
  const start = Math.floor(context.random() * candidates.length)
  return [...candidates.slice(start), ...candidates.slice(0, start)]
}

/** A pass that reached its limit is resumed where it stopped, so that no record waits for ever. */
async function readCursor(context: FleetContext, mode: CleanupMode): Promise<string | undefined> {
  const cursor = await context.store.readState(stateKey(context, `${CURSOR}-${mode}`))
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined
}

function writeCursor(context: FleetContext, mode: CleanupMode, cursor: string): Promise<void> {
  return context.store.writeState(stateKey(context, `${CURSOR}-${mode}`), cursor)
}

function outcomeOf(error: unknown): PassOutcome {
  const isLost = FleetError.isInstance(error) && error.code === 'lease-lost'
  return isLost ? 'lease-lost' : 'store-failed'
}

function close(
  context: FleetContext,
  progress: Progress,
  outcome: PassOutcome,
  err?: unknown,
): CleanupReport {
  const { isDryRun, mode, plan = NOTHING_FOUND, startedAt } = progress
  const { candidates, examined, spared, unreadable } = plan
  const items = candidates.map((candidate) => toItem(candidate, progress))
  const found = items.length
  const cleaned = items.filter((item) => CLEANED.includes(item.outcome)).length
  const finishedAt = context.clock.now()
  const fields = { mode, outcome, found, cleaned, spared }
  const hasFailed = err !== undefined
  if (hasFailed) context.logger.error({ ...fields, err }, fleetMessages.cleanupStopped)
  else context.logger.info(fields, fleetMessages.cleanupCompleted)
  const error = hasFailed ? { error: errorText(err) } : {}
  return { ...fields, isDryRun, startedAt, finishedAt, examined, items, unreadable, ...error }
}

function toItem(candidate: CleanupCandidate, { outcomes }: Progress): CleanupItem {
  const { action, detail, reason, record } = candidate
  const outcome = outcomes.get(candidate) ?? 'changed'
  return { id: record.id, provider: record.provider, action, reason, detail, outcome }
}
