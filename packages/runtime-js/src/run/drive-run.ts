import { HelixError, type Message, type UserMessage } from '@helix-agents/core'
import { traced } from '@helix-agents/core/runtime'
import type { RunError, RunOutcome, AgentResult } from '../agent-result.ts'
import { isLost } from '../lease/lease.ts'
import type { PlacedCall } from '../call/find-open-calls.ts'
import { goOnWithStep } from '../step/resume-step.ts'
import type { Run } from './run.ts'
import { runLoop, stopped } from './run-loop.ts'
import { noteOutcome, noteRun, runSpan, stepSpan } from '../observe/spans.ts'
import { endStored } from './store-end.ts'
import { endStream } from '../stream/end-stream.ts'
import { toRunEnd, toStoredOutcome } from '../session/stored-outcome.ts'

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
  /** Says whether what the user said is stored. */
  readonly onHeard: (isStored: boolean) => void
}

/** Carries a run to its end and stores that. Never rejects. */
export function carryRun(opened: OpenedRun): Promise<AgentResult> {
  const { run } = opened
  const { tracer } = run.services
  return traced(
    tracer,
    () => runSpan(run),
    async (span) => {
      const result = await carryToEnd(opened)
      noteRun(span, result)
      return result
    },
  )
}

async function carryToEnd(opened: OpenedRun): Promise<AgentResult> {
  const { run } = opened
  const endClaim = run.claim.keep()
  let outcome: RunOutcome
  try {
    outcome = await carryAndStore(opened)
  } finally {
    endClaim()
  }
  run.services.active.noteEnding(run.sessionId)
  await tellEnd(run, outcome)
  return toResult(run, outcome)
}

async function carryAndStore(opened: OpenedRun): Promise<RunOutcome> {
  const { run } = opened
  const endLimit = run.control.limit(run.services.clock, run.meter.timeLeftMs)
  const reached = await carry(opened)
  opened.onHeard(false)
  endLimit()
  const { owed } = await run.workspaces.close(await closeMode(opened, reached))
  return storeEnd(run, reached, owed)
}

async function carry(opened: OpenedRun): Promise<RunOutcome> {
  const { run, finished } = opened
  try {
    if (finished !== undefined) return finished
    if (run.services.openEagerly) await run.workspaces.registry?.openAll(run.control.signal)
    return (await takeUp(opened)) ?? (await runLoop(run))
  } catch (error) {
    if (isLost(error)) run.control.stop('claim-lost')
    if (isStop(run, error)) return stopped(run, 'aborted')
    run.services.logger.error(
      { err: error, sessionId: run.sessionId, runId: run.runId },
      'run broke',
    )
    return { status: 'failed', error: toRunError(error) }
  }
}

/** Whether the run ends with the stop that was asked for, and not with an error of its own. */
function isStop({ control }: Run, error: unknown): boolean {
  const { cause, signal } = control
  return cause !== undefined && cause !== 'claim-lost' && error === signal.reason
}

/** Goes on with the step under way; then the agent hears what the user said meanwhile. */
async function takeUp(opened: OpenedRun): Promise<RunOutcome | undefined> {
  const { run, openCalls, laterMessages, onHeard } = opened
  const outcome = openCalls.length === 0 ? undefined : await tracedStep(run, openCalls)
  if (outcome !== undefined && outcome.status !== 'completed') return outcome
  if (laterMessages.length === 0) return outcome
  await addMessages(run, laterMessages)
  onHeard(true)
  return undefined
}

function tracedStep(run: Run, calls: readonly PlacedCall[]): Promise<RunOutcome | undefined> {
  return traced(
    run.services.tracer,
    () => stepSpan(run),
    async (span) => {
      const outcome = await goOnWithStep(run, calls)
      noteOutcome(span, outcome)
      return outcome
    },
  )
}

/**
 * A run that may go on keeps its workspaces: an interrupted one, one that another process took
 * over, and a failed one, which can be resumed when its model or its store answers again.
 */
async function closeMode(
  { run, keepWorkspaces }: OpenedRun,
  { status }: RunOutcome,
): Promise<'end' | 'detach'> {
  const isOver = status === 'completed' || status === 'aborted'
  if (keepWorkspaces || !isOver || run.control.cause === 'claim-lost') return 'detach'
  try {
    await run.claim.confirm()
    return 'end'
  } catch (err) {
    const { sessionId, runId } = run
    run.services.logger.warn({ err, sessionId, runId }, 'workspaces are left open')
    return 'detach'
  }
}

async function storeEnd(
  run: Run,
  outcome: RunOutcome,
  owed: readonly string[],
): Promise<RunOutcome> {
  const { logger } = run.services
  try {
    await endStored(run, toRunEnd(run, outcome, owed))
    return outcome
  } catch (error) {
    if (isLost(error)) run.control.stop('claim-lost')
    logger.error(
      { err: error, sessionId: run.sessionId, runId: run.runId },
      'end of run not stored',
    )
    if (outcome.status === 'failed' && !isLost(error)) return outcome
    return { status: 'failed', error: toRunError(error) }
  }
}

/** Ends the stream. Nothing is said for a session that is another process's by now. */
async function tellEnd(run: Run, outcome: RunOutcome): Promise<void> {
  const { services, agent, sessionId, runId } = run
  if (run.control.cause === 'claim-lost') return
  await run.chunks.flush()
  const end = { sessionId, runId, agentType: agent.name, ...toStoredOutcome(outcome) }
  try {
    await endStream(services, end)
  } catch (error) {
    services.logger.error({ err: error, sessionId }, 'end of stream not written')
  }
}

function toResult(run: Run, outcome: RunOutcome): AgentResult {
  const { sessionId, runId, stepCount, usage } = run
  const { spending } = run.meter
  return { sessionId, runId, stepCount, usage, spending, ...outcome }
}

function toRunError(cause: unknown): RunError {
  if (HelixError.isInstance(cause)) return { code: cause.code, message: cause.message, cause }
  return { code: 'internal', message: 'the run failed for a reason that is not shown here', cause }
}

/** Stores what the user said, with the state that came with it. */
export async function addMessages(run: Run, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  const customState = run.state.takeChange()
  await run.services.stateStore.appendMessages({
    ...run.write(),
    messages,
    ...run.takeSpending(),
    ...(customState === undefined ? {} : { customState }),
  })
  run.messages.push(...messages)
}
