import { type Agent, type Clock, type Logger, SessionError } from '@helix-agents/core'
import type { SessionState, SessionStateStore, StreamManager } from '@helix-agents/core/runtime'
import { endStream } from '@helix-agents/runtime-js'
import type { DurableExecutor } from './durable-executor.ts'
import { endCutOffRun } from './end-cut-off-run.ts'
import { dueAt, MAX_DELAY_MS, type RunNote, type RunNotes } from './run-notes.ts'
import type { RunWatchdog } from './run-watchdog.ts'

const FIRST_DELAY_MS = 1_000

export interface RecoveryParts {
  readonly notes: RunNotes
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
  const { notes, watchdog, clock, logger } = parts
  for (const note of notes.all()) {
    const { sessionId } = note
    const now = clock.now()
    if (watchdog.isRunning(sessionId) || dueAt(note, now) > now) continue
    try {
      await recoverRun(parts, note)
    } catch (err) {
      logger.error({ err, sessionId }, 'run could not be taken up')
      retryLater(parts, counted(note, notes.get(sessionId)))
    }
  }
}

async function recoverRun(parts: RecoveryParts, note: RunNote): Promise<void> {
  const { stateStore, executor, agentOf, notes, sync, logger } = parts
  const { sessionId } = note
  const session = await stateStore.loadSession(sessionId)
  if (session?.status !== 'running') return forget(parts, sessionId, session)
  const next = await countAttempt(parts, note, session)
  // A run that ends the object each time must be counted, however soon that happens.
  notes.put(next)
  await sync()
  if (next.attempts > parts.maxAttempts) return giveUp(parts, session)
  const agent = agentOf(session.agentType)
  if (agent === undefined) throw new TypeError(`there is no agent ${session.agentType} any more`)
  try {
    const recovery = await executor().takeUp(agent, next)
    if (recovery.outcome === 'not-needed') return notes.remove(sessionId)
    if (recovery.outcome === 'held')
      return notes.put({ ...note, retryAt: recovery.leaseUntil ?? 0 })
    logger.info({ sessionId, attempts: next.attempts }, 'run goes on in a new instance')
  } catch (error) {
    if (!SessionError.isInstance(error)) throw error
    logger.error({ err: error, sessionId }, 'run cannot be taken up')
    await giveUp(parts, session)
  }
}

/** The note with this attempt in it, also when it was not reached to be counted. */
function counted(before: RunNote, now: RunNote | undefined): RunNote {
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
  parts.notes.remove(sessionId)
}

async function countAttempt(
  { stateStore }: RecoveryParts,
  note: RunNote,
  { sessionId, stepCount, messageCount }: SessionState,
): Promise<RunNote> {
  const journal = await stateStore.loadJournal(sessionId)
  const finished = journal.filter((entry) => entry.result !== undefined).length
  const progress = `${stepCount}:${messageCount}:${finished}`
  const attempts = note.progress === progress ? note.attempts + 1 : 1
  return { sessionId, attempts, progress }
}

async function giveUp(parts: RecoveryParts, session: SessionState): Promise<void> {
  const error = {
    code: 'recovery-failed',
    message: 'the run was cut off and could not be taken up again',
  }
  await endCutOffRun(parts, session, { status: 'failed', error })
  parts.notes.remove(session.sessionId)
}

function retryLater({ notes, clock, logger, maxAttempts }: RecoveryParts, note: RunNote): void {
  const { sessionId, attempts } = note
  // What cannot even be marked as failed is left for the operator.
  if (attempts > maxAttempts) {
    logger.error({ sessionId }, 'run is given up; its session cannot be written')
    notes.remove(sessionId)
    return
  }
  const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 4 ** Math.max(0, attempts - 1))
  notes.put({ ...note, retryAt: clock.now() + delayMs })
}
