import { HelixError, type Message, type UserMessage } from '@helix-agents/core'
import { type SessionRequest, traced } from '@helix-agents/core/runtime'
import type { AgentResult, RunError, RunOutcome } from '../agent-result.ts'
import { isLeaseLost } from '../lease/lease.ts'
import { recordOutcome, recordRun, runSpan, stepSpan } from '../observe/spans.ts'
import type { PlacedCall, Run } from '../ports.ts'
import { loadOpenRequests } from '../request/open-requests.ts'
import { toRunEnd, toStoredOutcome } from '../session/stored-outcome.ts'
import { resumeStep } from '../step/resume-step.ts'
import { stopped } from '../step/stop-outcome.ts'
import { endStream } from '../stream/end-stream.ts'
import { watchSignals } from './inbox.ts'
import { runLoop } from './run-loop.ts'
import { storeEnd } from './store-end.ts'

/** A run that has the lease of its session and is ready to start. */
export interface OpenedRun {
  readonly run: Run
  /** Set when the run before was decided, and its process died before it could end it. */
  readonly finished: RunOutcome | undefined
  readonly keepWorkspaces: boolean
  /** It is no run of a sub-agent. */
  readonly isRoot: boolean
  /** Calls of the step under way that have no result. */
  readonly openCalls: readonly PlacedCall[]
  /** Messages of the user that are added once the open calls are settled. */
  readonly laterMessages: readonly UserMessage[]
  /** Reports whether the messages of the user are stored. */
  readonly onAcknowledged: (isStored: boolean) => void
}

/** Drives a run to completion and persists the outcome. Never rejects. */
export function driveRun(opened: OpenedRun): Promise<AgentResult> {
  const { run } = opened
  return traced(
    run.services.tracer,
    () => runSpan(run),
    async (span) => {
      const stopRenewing = run.lease.keepRenewed()
      // A sub-agent is stopped by its parent, and messages are for that.
      const stopWatching = opened.isRoot ? watchSignals(run) : () => {}
      const outcome = await driveToEnd(opened).finally(() => {
        stopWatching()
        stopRenewing()
      })
      run.services.active.markEnding(run.sessionId)
      await endRunStream(run, outcome)
      const result = await toResult(run, outcome)
      recordRun(span, result, run.meter.ownUsage)
      return result
    },
  )
}

async function driveToEnd(opened: OpenedRun): Promise<RunOutcome> {
  const { run } = opened
  const endLimit = run.control.limit(run.services.clock, run.meter.timeLeftMs)
  const reached = await runSteps(opened)
  opened.onAcknowledged(false)
  endLimit()
  const { owed } = await run.workspaces.close(await closeMode(opened, reached))
  return persist(run, reached, owed)
}

async function runSteps(opened: OpenedRun): Promise<RunOutcome> {
  const { run, finished } = opened
  const { services, sessionId, runId } = run
  try {
    if (finished !== undefined) return finished
    if (services.openEagerly) await run.workspaces.registry?.openAll(run.control.signal)
    return (await resumePending(opened)) ?? (await runLoop(run))
  } catch (error) {
    if (isLeaseLost(error)) run.control.stop('lease-lost')
    if (isStop(run, error)) return stopped(run, 'aborted')
    services.logger.error({ err: error, sessionId, runId }, 'run failed')
    return { status: 'failed', error: toRunError(error) }
  }
}

/** Whether the run ends with the stop that was asked for, and not with an error of its own. */
function isStop({ control }: Run, error: unknown): boolean {
  const { cause, signal } = control
  return cause !== undefined && cause !== 'lease-lost' && error === signal.reason
}

/** Resumes the step under way, and adds the messages that came meanwhile after it. */
async function resumePending(opened: OpenedRun): Promise<RunOutcome | undefined> {
  const { run, openCalls, laterMessages, onAcknowledged } = opened
  const outcome = openCalls.length === 0 ? undefined : await tracedStep(run, openCalls)
  if (outcome !== undefined && outcome.status !== 'completed') return outcome
  if (laterMessages.length === 0) return outcome
  await addMessages(run, laterMessages)
  onAcknowledged(true)
  return undefined
}

function tracedStep(run: Run, calls: readonly PlacedCall[]): Promise<RunOutcome | undefined> {
  return traced(
    run.services.tracer,
    () => stepSpan(run),
    async (span) => {
      const outcome = await resumeStep(run, calls)
      recordOutcome(span, outcome)
      return outcome
    },
  )
}

/**
 * A run that may be resumed keeps its workspaces: an interrupted one, one whose lease another process
 * has, and a failed one, whose model or store may answer again.
 */
async function closeMode(
  { run, keepWorkspaces }: OpenedRun,
  { status }: RunOutcome,
): Promise<'end' | 'detach'> {
  const isOver = status === 'completed' || status === 'aborted'
  if (keepWorkspaces || !isOver || run.control.cause === 'lease-lost') return 'detach'
  try {
    await run.lease.confirm()
    return 'end'
  } catch (err) {
    const { sessionId, runId } = run
    run.services.logger.warn({ err, sessionId, runId }, 'workspaces are left open')
    return 'detach'
  }
}

async function persist(
  run: Run,
  outcome: RunOutcome,
  owed: readonly string[],
): Promise<RunOutcome> {
  const { services, sessionId, runId } = run
  try {
    await storeEnd(run, toRunEnd(run, outcome, owed))
    return outcome
  } catch (error) {
    if (isLeaseLost(error)) run.control.stop('lease-lost')
    services.logger.error({ err: error, sessionId, runId }, 'end of run not stored')
    if (outcome.status === 'failed' && !isLeaseLost(error)) return outcome
    return { status: 'failed', error: toRunError(error) }
  }
}

/** Ends the stream, unless another process has the session by now. */
async function endRunStream(run: Run, outcome: RunOutcome): Promise<void> {
  const { services, agent, sessionId, runId } = run
  if (run.control.cause === 'lease-lost') return
  await run.chunks.flush()
  const end = { sessionId, runId, agentType: agent.name, ...toStoredOutcome(outcome) }
  try {
    await endStream(services, end)
  } catch (error) {
    services.logger.error({ err: error, sessionId }, 'end of stream not written')
  }
}

async function toResult(run: Run, outcome: RunOutcome): Promise<AgentResult> {
  const { sessionId, runId, recorder, meter } = run
  const base = { sessionId, runId, stepCount: recorder.stepCount, usage: meter.usage }
  if (outcome.status !== 'waiting') return { ...base, ...outcome }
  return { ...base, ...outcome, requests: await requestsOf(run) }
}

/** The session waits, also when the store does not answer now. */
async function requestsOf({ services, sessionId }: Run): Promise<readonly SessionRequest[]> {
  try {
    return await loadOpenRequests(services, sessionId)
  } catch (err) {
    services.logger.error({ err, sessionId }, 'open requests not loaded')
    return []
  }
}

function toRunError(cause: unknown): RunError {
  if (HelixError.isInstance(cause)) return { code: cause.code, message: cause.message, cause }
  return { code: 'internal', message: 'the run failed for a reason that is not shown here', cause }
}

/** Stores messages of the user, with the state that came with them. */
export async function addMessages(run: Run, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  const customState = run.state.consumeChange()
  await run.services.stateStore.appendMessages({
    ...run.lease.write(),
    messages,
    ...run.recorder.unstoredUsage(),
    ...(customState !== undefined && { customState }),
  })
  run.messages.push(...messages)
}
