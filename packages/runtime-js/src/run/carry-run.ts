import { HelixError, type Message, type UserMessage } from '@helix-agents/core'
import type { RunError, RunOutcome, AgentResult } from '../agent-result.ts'
import { traced } from '../tracing.ts'
import { isLost, keepClaim } from './claim.ts'
import type { PlacedCall } from './find-open-calls.ts'
import { goOnWithStep } from './open-step.ts'
import { toStoredOutput } from './prepare-session.ts'
import type { Run } from './run.ts'
import { runLoop } from './run-loop.ts'

/** A run that holds its session and is ready to go. */
export interface OpenedRun {
  readonly run: Run
  /** Set when the run before had done its work and died before it could say so. */
  readonly finished: RunOutcome | undefined
  readonly keepWorkspaces: boolean
  /** Calls of the step under way that have no result. */
  readonly openCalls: readonly PlacedCall[]
  /** What the user said meanwhile; added once the open calls are settled. */
  readonly laterMessages: readonly UserMessage[]
}

/** Carries a run to its end and stores that. Never rejects. */
export async function carryRun(opened: OpenedRun): Promise<AgentResult> {
  const { run } = opened
  const endClaim = keepClaim(run)
  const endLimit = run.control.limit(run.services.clock, run.agent.maxDurationMs)
  const attributes = { 'helix.agent': run.agent.name, 'helix.session': run.sessionId }
  const { tracer } = run.services
  const reached = await traced(tracer, { name: 'helix.run', attributes }, () => carry(opened))
  endLimit()
  await run.workspaces.close(closeMode(opened, reached))
  const outcome = await storeEnd(run, reached)
  endClaim()
  run.services.active.noteEnding(run.sessionId)
  await tellEnd(run, outcome)
  return toResult(run, outcome)
}

async function carry({ run, finished, openCalls, laterMessages }: OpenedRun): Promise<RunOutcome> {
  try {
    if (finished !== undefined) return finished
    if (run.services.openEagerly) await run.workspaces.registry?.openAll(run.control.signal)
    const early = openCalls.length === 0 ? undefined : await goOnWithStep(run, openCalls)
    if (early === undefined) await addMessages(run, laterMessages)
    return early ?? (await runLoop(run))
  } catch (error) {
    run.services.logger.error({ error, sessionId: run.sessionId, runId: run.runId }, 'run broke')
    return { status: 'failed', error: toRunError(error) }
  }
}

/**
 * A run that may go on keeps its workspaces: an interrupted one, one that another process took
 * over, and a failed one, which can be resumed when its model or its store answers again.
 */
function closeMode({ run, keepWorkspaces }: OpenedRun, outcome: RunOutcome): 'end' | 'detach' {
  if (keepWorkspaces || run.control.cause === 'claim-lost') return 'detach'
  return outcome.status === 'completed' || outcome.status === 'aborted' ? 'end' : 'detach'
}

async function storeEnd(run: Run, outcome: RunOutcome): Promise<RunOutcome> {
  const { stateStore, logger } = run.services
  try {
    await stateStore.endRun({ ...run.write(), ...toStoredEnd(outcome) })
    return outcome
  } catch (error) {
    logger.error({ error, sessionId: run.sessionId, runId: run.runId }, 'end of run not stored')
    if (outcome.status === 'failed' && !isLost(error)) return outcome
    return { status: 'failed', error: toRunError(error) }
  }
}

function toStoredEnd(outcome: RunOutcome) {
  if (outcome.status === 'completed') {
    const output = toStoredOutput(outcome.output)
    return { status: outcome.status, ...(output === undefined ? {} : { output }) }
  }
  if (outcome.status !== 'failed') return { status: outcome.status }
  const { code, message } = outcome.error
  return { status: outcome.status, error: { code, message } }
}

/** Ends the stream. Nothing is said for a session that is another process's by now. */
async function tellEnd(run: Run, outcome: RunOutcome): Promise<void> {
  const { services, chunks, control } = run
  if (control.cause === 'claim-lost') return
  if (outcome.status === 'completed') {
    chunks.emit('output', { output: toStoredOutput(outcome.output) })
  }
  if (outcome.status === 'failed') {
    const { code, message } = outcome.error
    chunks.emit('error', { code, message })
  }
  await chunks.flush()
  try {
    await services.streamManager.endRun(run.sessionId, run.runId)
  } catch (error) {
    services.logger.error({ error, sessionId: run.sessionId }, 'end of stream not written')
  }
}

function toResult(run: Run, outcome: RunOutcome): AgentResult {
  const { sessionId, runId, stepCount, usage } = run
  return { sessionId, runId, stepCount, usage, ...outcome }
}

function toRunError(cause: unknown): RunError {
  if (HelixError.isInstance(cause)) return { code: cause.code, message: cause.message, cause }
  return { code: 'internal', message: 'the run failed for a reason that is not shown here', cause }
}

/** Stores what the user said. */
export async function addMessages(run: Run, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  await run.services.stateStore.appendMessages({ ...run.write(), messages })
  run.messages.push(...messages)
}
