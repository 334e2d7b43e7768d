import type { Message, SessionState } from '@helix-agents/core'
import type { ActiveRun } from '../active-runs.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { addMessages, carryRun, type OpenedRun } from './carry-run.ts'
import { isLost } from './claim.ts'
import { finishedOutcome } from './finished-outcome.ts'
import type { LaunchRequest } from './launch-request.ts'
import { findOpenCalls } from './find-open-calls.ts'
import { settleStep } from './open-step.ts'
import { customStateOf, prepareSession } from './prepare-session.ts'
import { Run } from './run.ts'
import type { RunServices } from './run-services.ts'
import { SessionWorkspaces } from './session-workspaces.ts'
import { StateTracker } from './state-tracker.ts'

/**
 * Claims a session, stores what the user said and lets the run go on by itself.
 * @throws {AgentAlreadyRunningError} `already-running`
 * @throws {SessionError} `other-agent`, `not-resumable`
 * @throws {AgentDefinitionError} `definition-invalid` for a state the agent does not accept.
 */
export async function launchRun(services: RunServices, request: LaunchRequest): Promise<ActiveRun> {
  const { sessionId, control } = request
  await services.active.untilEnded(sessionId)
  services.active.take(sessionId)
  try {
    const before = await prepareSession(services, request)
    const runId = crypto.randomUUID()
    const { leaseMs, clock, stateStore } = services
    const session = await stateStore.beginRun({ sessionId, runId, leaseMs, now: clock.now() })
    const run = await openRun(services, request, {
      session,
      runId,
      wasRunning: before.status === 'running',
    })
    const { registry } = run.run.workspaces
    const done = carryRun(run).finally(() => services.active.release(sessionId))
    const active = { sessionId, runId, control, registry, done }
    services.active.set(active)
    return active
  } catch (error) {
    services.active.release(sessionId)
    throw error
  }
}

interface Claim {
  readonly session: SessionState
  readonly runId: string
  /** The run before did not end: its process died. */
  readonly wasRunning: boolean
}

async function openRun(
  services: RunServices,
  request: LaunchRequest,
  claim: Claim,
): Promise<OpenedRun> {
  try {
    const run = await createRun(services, request, claim)
    const open = findOpenCalls(run.messages)
    // A resumed run settles its step first, and then hears the message.
    const settleLater = request.mode === 'resume' && open.length > 0
    if (!settleLater) {
      await settleStep(run, open)
      await addMessages(run, request.messages)
    }
    const finished =
      claim.wasRunning && request.messages.length === 0 ? await finishedOutcome(run) : undefined
    return {
      run,
      finished,
      keepWorkspaces: request.keepWorkspaces,
      openCalls: settleLater ? open : [],
      laterMessages: settleLater ? request.messages : [],
    }
  } catch (error) {
    await releaseClaim(services, request, claim)
    throw error
  }
}

async function createRun(
  services: RunServices,
  request: LaunchRequest,
  claim: Claim,
): Promise<Run> {
  const { agent, sessionId, control, toolSet, parent } = request
  const { session, runId } = claim
  const messages = await loadMessages(services, session)
  const custom = await customStateOf(session, request)
  const { streamManager, clock, logger } = services
  const stream = [sessionId, runId, agent.name] as const
  const chunks = new ChunkWriter({
    writer: await (request.mode === 'execute'
      ? streamManager.startRun(...stream)
      : streamManager.resumeRun(...stream)),
    agentId: runId,
    agentType: agent.name,
    clock,
    logger,
    ...(parent === undefined ? {} : { forward: parent.forward }),
  })
  const state = new StateTracker(
    custom.value,
    (patches) => chunks.emit('state_patch', { patches }),
    custom.isChanged,
  )
  const workspaces = new SessionWorkspaces({
    services,
    session,
    toolSet,
    messages,
    write: () => ({ sessionId, runId, now: clock.now() }),
    ...(parent?.workspaces === undefined ? {} : { parent: parent.workspaces }),
  })
  const { stepCount } = session
  return new Run({
    services,
    agent,
    sessionId,
    runId,
    control,
    toolSet,
    chunks,
    state,
    workspaces,
    messages,
    stepCount,
  })
}

async function loadMessages(
  { stateStore }: RunServices,
  { sessionId, messageCount }: SessionState,
): Promise<Message[]> {
  if (messageCount === 0) return []
  const { messages } = await stateStore.loadMessages(sessionId)
  return [...messages]
}

/** A run that could not start leaves the session to the next one. */
async function releaseClaim(
  { stateStore, clock, logger }: RunServices,
  { sessionId }: LaunchRequest,
  { runId, session, wasRunning }: Claim,
): Promise<void> {
  try {
    const status = wasRunning || session.messageCount > 0 ? 'interrupted' : 'failed'
    await stateStore.endRun({ sessionId, runId, now: clock.now(), status })
  } catch (error) {
    if (!isLost(error)) logger.warn({ error, sessionId, runId }, 'claim not given up')
  }
}
