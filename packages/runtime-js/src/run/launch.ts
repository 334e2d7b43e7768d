import type { Message } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import type { ActiveRun } from './active-runs.ts'
import { ChunkWriter } from '../stream/chunk-writer.ts'
import { addMessages, carryRun, type OpenedRun } from './drive-run.ts'
import { Claim, isLost, leaseFor } from '../lease/lease.ts'
import type { LaunchRequest } from './launch-request.ts'
import { Meter } from './meter.ts'
import { findOpenCalls } from '../call/find-open-calls.ts'
import { settleStep } from '../step/resume-step.ts'
import { customStateOf, type PreparedSession, prepareSession } from './prepare-session.ts'
import { Run } from './run.ts'
import type { RunServices } from '../ports.ts'
import { saveRefsOf, SessionWorkspaces } from '../session/session-workspaces.ts'
import { StateTracker } from './state-tracker.ts'
import { fromStoredOutcome } from '../session/stored-outcome.ts'

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
    const { session: before, isNew } = await prepareSession(services, request)
    const runId = crypto.randomUUID()
    const { clock, stateStore } = services
    const now = clock.now()
    const leaseMs = leaseFor(services.leaseMs, request.parent?.claim, now)
    const { keepWorkspaces } = request
    const session = await stateStore.beginRun({
      sessionId,
      runId,
      leaseMs,
      now,
      ...(keepWorkspaces === undefined ? {} : { keepWorkspaces }),
    })
    const wasRunning = before.status === 'running'
    const opened = await openRun(services, request, { session, isNew, runId, wasRunning, now })
    const { registry } = opened.run.workspaces
    const { promise: heard, resolve: onHeard } = Promise.withResolvers<boolean>()
    if (opened.laterMessages.length === 0) onHeard(true)
    // A completed turn is not the end of a session; a sub-agent ends with its call.
    const keeps = keepWorkspaces ?? session.keepWorkspaces ?? request.parent === undefined
    const carried = { ...opened, onHeard, keepWorkspaces: keeps }
    const done = carryRun(carried).finally(() => services.active.release(sessionId))
    const active = { sessionId, runId, control, registry, done, heard }
    services.active.set(active)
    return active
  } catch (error) {
    services.active.release(sessionId)
    throw error
  }
}

interface Begun extends PreparedSession {
  readonly runId: string
  /** The run before did not end: its process died. */
  readonly wasRunning: boolean
  readonly now: number
}

async function openRun(
  services: RunServices,
  request: LaunchRequest,
  begun: Begun,
): Promise<Omit<OpenedRun, 'onHeard' | 'keepWorkspaces'>> {
  let run: Run | undefined
  try {
    run = await createRun(services, request, begun)
    const open = findOpenCalls(run.messages)
    // A resumed run settles its step first, and then hears the message.
    const settleLater = request.mode === 'resume' && open.length > 0
    if (!settleLater) {
      await settleStep(run, open)
      await addMessages(run, request.messages)
    }
    const { outcome } = begun.session
    const isDecided = outcome !== undefined && request.messages.length === 0
    return {
      run,
      finished: isDecided ? fromStoredOutcome(outcome) : undefined,
      openCalls: settleLater ? open : [],
      laterMessages: settleLater ? request.messages : [],
    }
  } catch (error) {
    await run?.workspaces.close('detach')
    await releaseClaim(services, request, begun)
    throw error
  }
}

async function createRun(
  services: RunServices,
  request: LaunchRequest,
  { session, isNew, runId, now: claimedAt }: Begun,
): Promise<Run> {
  const { agent, sessionId, control, toolSet, parent } = request
  const meter = createMeter(services, request, session)
  const messages = await loadMessages(services, session)
  const custom = await customStateOf({ session, isNew }, request)
  const chunks = await openStream(services, request, runId)
  const state = new StateTracker(
    custom.value,
    (patches) => chunks.emit('state_patch', { patches }),
    custom.isChanged,
  )
  const onLost = (): void => control.stop('claim-lost')
  const claim = new Claim({
    services,
    sessionId,
    runId,
    claimedAt,
    parent: parent?.claim,
    onLost,
  })
  const workspaces = new SessionWorkspaces({
    services,
    session,
    toolSet,
    messages,
    saveRef: saveRefsOf(services, claim),
    ...(parent?.workspaces === undefined ? {} : { parent: parent.workspaces }),
  })
  const { stepCount } = session
  return new Run({
    services,
    agent,
    sessionId,
    runId,
    claim,
    control,
    toolSet,
    chunks,
    state,
    meter,
    workspaces,
    messages,
    stepCount,
  })
}

/** A new turn starts from nothing; one that is resumed goes on counting, and so does its parent. */
function createMeter(
  { clock }: RunServices,
  { agent, mode, parent }: LaunchRequest,
  { spending }: SessionState,
): Meter {
  const isNew = mode === 'execute'
  const before = isNew ? undefined : spending
  parent?.meter.countEarlier(before)
  const isStale = isNew && spending !== undefined
  return new Meter({ agent, clock, before, isStale, parent: parent?.meter })
}

async function openStream(
  { streamManager, clock, logger }: RunServices,
  { agent, sessionId, mode, parent }: LaunchRequest,
  runId: string,
): Promise<ChunkWriter> {
  const stream = [sessionId, runId, agent.name] as const
  const writer = await (mode === 'execute'
    ? streamManager.startRun(...stream)
    : streamManager.resumeRun(...stream))
  return new ChunkWriter({
    writer,
    agentId: runId,
    agentType: agent.name,
    clock,
    logger,
    ...(parent === undefined ? {} : { forward: parent.forward }),
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

/** A run that could not start leaves the session to the next one, or as it was decided. */
async function releaseClaim(
  { stateStore, clock, logger }: RunServices,
  { sessionId }: LaunchRequest,
  { runId, session, wasRunning }: Begun,
): Promise<void> {
  try {
    const status = wasRunning || session.messageCount > 0 ? 'interrupted' : 'failed'
    const outcome = (await stateStore.loadSession(sessionId))?.outcome ?? { status }
    await stateStore.endRun({ sessionId, runId, now: clock.now(), ...outcome })
  } catch (error) {
    if (!isLost(error)) logger.warn({ err: error, sessionId, runId }, 'claim not given up')
  }
}
