import { type Agent, type Clock, type Logger, SessionError } from '@helix-agents/core'
import type {
  SessionState,
  SessionStateStore,
  SessionStatus,
  StreamManager,
} from '@helix-agents/core/runtime'
import { endStream } from '@helix-agents/runtime-js'
import type { DurableExecutor } from './durable-executor.ts'
import { endCutOffRun } from './end-cut-off-run.ts'
import { dueAt, MAX_DELAY_MS, type RunRecord, type RunRecords } from './run-records.ts'
import type { RunWatchdog } from './run-watchdog.ts'

const FIRST_DELAY_MS = 1_000

export interface RecoveryParts {
  readonly records: RunRecords
  readonly watchdog: RunWatchdog
  readonly executor: () => DurableExecutor
  readonly stateStore: SessionStateStore
  readonly streamManager: StreamManager
  readonly agentOf: (name: string) => Agent | undefined
  /** Waits until what was written is on disk. */
  readonly sync: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
  readonly maxAttempts: number
}

/** Goes on with the runs that an earlier instance of the object left. Never rejects. */
export async function recoverRuns(parts: RecoveryParts): Promise<void> {
  const { records, watchdog, clock, logger } = parts
  for (const record of records.all()) {
    const { sessionId } = record
    const now = clock.now()
    if (watchdog.isRunning(sessionId) || dueAt(record, now) > now) continue
    try {
      await recoverRun(parts, record)
    } catch (err) {
      logger.error({ err, sessionId }, 'run recovery failed')
      retryLater(parts, counted(record, records.get(sessionId)))
    }
  }
}

async function recoverRun(parts: RecoveryParts, record: RunRecord): Promise<void> {
  const { stateStore, records, sync } = parts
  const { sessionId } = record
  const session = await stateStore.loadSession(sessionId)
  if (session === null || !mayContinue.has(session.status)) return forget(parts, sessionId, session)
  const next = await countAttempt(parts, record, session)
  // A run that ends the object each time must be counted, however soon that happens.
  records.put(next)
  await sync()
  if (next.attempts <= parts.maxAttempts) return resumeRun(parts, { session, record, next })
  // What waits has not failed: it waits on.
  if (session.status === 'waiting') return forget(parts, sessionId, session)
  return failRun(parts, session)
}

/** One that waits may have an answer that no run has acted on. */
const mayContinue: ReadonlySet<SessionStatus> = new Set<SessionStatus>(['running', 'waiting'])

interface Attempt {
  readonly session: SessionState
  /** Before the attempt was counted, and with it. */
  readonly record: RunRecord
  readonly next: RunRecord
}

async function resumeRun(parts: RecoveryParts, { session, record, next }: Attempt): Promise<void> {
  const { executor, agentOf, records, logger } = parts
  const { sessionId, agentType } = session
  const agent = agentOf(agentType)
  if (agent === undefined) throw new TypeError(`there is no agent ${agentType} any more`)
  try {
    const recovery = await executor().resumeLeft(agent, next)
    if (recovery.outcome === 'not-needed') return await forget(parts, sessionId, session)
    if (recovery.outcome === 'held')
      return records.put({ ...record, retryAt: recovery.leaseUntil ?? 0 })
    logger.info({ sessionId, attempts: next.attempts }, 'run resumed in a new instance')
  } catch (error) {
    if (!SessionError.isInstance(error)) throw error
    logger.error({ err: error, sessionId }, 'run cannot be resumed')
    await failRun(parts, session)
  }
}

/** The record with this attempt counted, also when the attempt failed before it was counted. */
function counted(before: RunRecord, now: RunRecord | undefined): RunRecord {
  const isCounted = now?.attempts !== before.attempts || now.progress !== before.progress
  return now !== undefined && isCounted ? now : { ...before, attempts: before.attempts + 1 }
}

/** The run is over; its stream may not know that yet. */
async function forget(
  parts: RecoveryParts,
  sessionId: string,
  session: SessionState | null,
): Promise<void> {
  if (session !== null) await endStream(parts, session)
  parts.records.remove(sessionId)
}

async function countAttempt(
  { stateStore }: RecoveryParts,
  record: RunRecord,
  { sessionId, stepCount, messageCount }: SessionState,
): Promise<RunRecord> {
  const journal = await stateStore.loadJournal(sessionId)
  const finished = journal.filter((entry) => entry.result !== undefined).length
  const progress = `${stepCount}:${messageCount}:${finished}`
  const attempts = record.progress === progress ? record.attempts + 1 : 1
  return { sessionId, attempts, progress }
}

async function failRun(parts: RecoveryParts, session: SessionState): Promise<void> {
  const error = {
    code: 'recovery-failed',
    message: 'the run was cut off and could not be resumed',
  }
  await endCutOffRun(parts, session, { status: 'failed', error })
  parts.records.remove(session.sessionId)
}

function retryLater(
  { records, clock, logger, maxAttempts }: RecoveryParts,
  record: RunRecord,
): void {
  const { sessionId, attempts } = record
  // What cannot even be marked as failed is left for the operator.
  if (attempts > maxAttempts) {
    logger.error({ sessionId }, 'run recovery stopped: its session cannot be written')
    records.remove(sessionId)
    return
  }
  const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 4 ** Math.max(0, attempts - 1))
  records.put({ ...record, retryAt: clock.now() + delayMs })
}
