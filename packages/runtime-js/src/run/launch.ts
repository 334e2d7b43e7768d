import { type Message, StateStoreError } from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import type { SessionState, StatePatch } from '@helix-agents/core/runtime'
import type { RunOutcome } from '../agent-result.ts'
import { findOpenCalls } from '../call/find-open-calls.ts'
import { collect } from '../history/collect.ts'
import { loadRunHistory } from '../history/run-history.ts'
import { isLeaseLost, Lease, leaseFor } from '../lease/lease.ts'
import type { LaunchRequest, Run, RunContext, RunHistory, RunServices } from '../ports.ts'
import { placeOf } from '../request/request-place.ts'
import { saveRefsOf, SessionWorkspaces } from '../session/session-workspaces.ts'
import { fromStoredOutcome } from '../session/stored-outcome.ts'
import { settleStep } from '../step/resume-step.ts'
import { createStepRecorder } from '../step/step-recorder.ts'
import { ChunkWriter } from '../stream/chunk-writer.ts'
import type { ActiveRun } from './active-runs.ts'
import { continueSession } from './continue-session.ts'
import { endAborted } from './end-aborted.ts'
import { addMessages, driveRun, type OpenedRun } from './drive-run.ts'
import { createInbox, deliverQueued, onQueued } from './inbox.ts'
import { Meter } from './meter.ts'
import { customStateOf, type PreparedSession, prepareSession } from './prepare-session.ts'
import { StateTracker } from './state-tracker.ts'

/**
 * Acquires a session, stores the messages of the user and lets the run proceed by itself.
 * @throws {AgentAlreadyRunningError} `already-running`
 * @throws {SessionError} `other-agent`, `not-resumable`
 * @throws {AgentDefinitionError} `definition-invalid` for a state the agent does not accept.
 */
export async function launchRun(services: RunServices, request: LaunchRequest): Promise<ActiveRun> {
  const { sessionId, control } = request
  const { active } = services
  await active.untilEnded(sessionId)
  active.reserve(sessionId)
  try {
    const opened = await openRun(services, request, await acquire(services, request))
    const { promise: acknowledged, resolve: onAcknowledged } = Promise.withResolvers<boolean>()
    if (opened.laterMessages.length === 0) onAcknowledged(true)
    const { runId, workspaces } = opened.run
    const done = driveRun({ ...opened, onAcknowledged })
      .finally(() => active.release(sessionId))
      .then((result) => endAborted(services, request, result))
    const { requests } = opened.run
    void done.then((result) => continueSession(services, { request, result, requests }))
    const started: ActiveRun = {
      sessionId,
      runId,
      control,
      registry: workspaces.registry,
      onQueued: (message) => onQueued(opened.run, message),
      done,
      acknowledged,
    }
    active.set(started)
    return started
  } catch (error) {
    active.release(sessionId)
    throw error
  }
}

/** Each further one needs another process that changes the session just then. */
const MAX_ATTEMPTS = 5

/** A session whose lease this run has. */
interface AcquiredSession extends PreparedSession {
  readonly runId: string
  /** As it was when the run before had ended, or its process had died. */
  readonly before: SessionState
  /** When the store was asked for the lease. */
  readonly startedAt: number
}

/** Another process may change the session between its check and the lease: then it is checked anew. */
async function acquire(services: RunServices, request: LaunchRequest): Promise<AcquiredSession> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await acquireChecked(services, request)
    } catch (error) {
      const isChanged = StateStoreError.isInstance(error) && error.code === 'conflict'
      if (!isChanged || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

async function acquireChecked(
  services: RunServices,
  request: LaunchRequest,
): Promise<AcquiredSession> {
  const { session: before, isNew } = await prepareSession(services, request)
  const { sessionId, keepWorkspaces, parent } = request
  const runId = crypto.randomUUID()
  const now = services.clock.now()
  const session = await services.stateStore.beginRun({
    sessionId,
    runId,
    leaseMs: leaseFor(services.leaseMs, parent?.lease, now),
    now,
    version: before.version,
    ...(keepWorkspaces !== undefined && { keepWorkspaces }),
  })
  return { session, isNew, runId, before, startedAt: now }
}

async function openRun(
  services: RunServices,
  request: LaunchRequest,
  acquired: AcquiredSession,
): Promise<Omit<OpenedRun, 'onAcknowledged'>> {
  const { messages, mode } = request
  const { session } = acquired
  let run: Run | undefined
  try {
    run = await createRun(services, request, acquired)
    const open = findOpenCalls(run.messages)
    // A resumed run settles its step first, and adds the message after that.
    const settleLater = mode === 'resume' && open.length > 0
    if (!settleLater) {
      await settleStep(run, open)
      await addMessages(run, messages)
    }
    return {
      run,
      finished: await findOutcome(run, request, acquired),
      keepWorkspaces: keepsWorkspaces(request, session),
      isRoot: request.parent === undefined,
      openCalls: settleLater ? open : [],
      laterMessages: settleLater ? messages : [],
    }
  } catch (error) {
    await run?.workspaces.close('detach')
    await releaseLease(services, acquired)
    throw error
  }
}

/** How the run ends at once: it was decided before, or has nothing to begin with. */
async function findOutcome(
  run: Run,
  { messages, isFromInbox = false }: LaunchRequest,
  { session, before }: AcquiredSession,
): Promise<RunOutcome | undefined> {
  if (isFromInbox) return (await deliverQueued(run)) > 0 ? undefined : standingOf(before)
  const { outcome } = session
  return outcome === undefined || messages.length > 0 ? undefined : fromStoredOutcome(outcome)
}

/** Another process has taken the messages up, and has ended since. */
function standingOf({ status, output, error }: SessionState): RunOutcome {
  if (status === 'idle' || status === 'running') return { status: 'interrupted' }
  return fromStoredOutcome({
    status,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
  })
}

/** A completed turn is not the end of a session; a sub-agent ends with its call. */
function keepsWorkspaces(
  { keepWorkspaces, parent }: LaunchRequest,
  session: SessionState,
): boolean {
  return keepWorkspaces ?? session.keepWorkspaces ?? parent === undefined
}

async function createRun(
  services: RunServices,
  request: LaunchRequest,
  acquired: AcquiredSession,
): Promise<Run> {
  const { agent, sessionId, control, toolSet, parent } = request
  const { session, runId, startedAt } = acquired
  const meter = createMeter(services, request, session)
  const messages = await loadMessages(services, session)
  const place = await placeOf(services, agent, { session, parent })
  const custom = await customStateOf(acquired, request)
  const chunks = await openStream(services, request, runId)
  const onPatches = (patches: readonly StatePatch[]): void =>
    chunks.emit('state_patch', { patches })
  const state = new StateTracker(custom.value, onPatches, custom.isChanged)
  const onLost = (): void => control.stop('lease-lost')
  const parentLease = parent?.lease
  const lease = new Lease({ services, sessionId, runId, startedAt, parent: parentLease, onLost })
  const history = await openHistory(services, request, { session, messages })
  const workspaces = new SessionWorkspaces({
    services,
    session,
    toolSet,
    messages,
    saveRef: saveRefsOf(services, lease),
    ...(history !== undefined && { history }),
    ...(parent?.workspaces !== undefined && { parent: parent.workspaces }),
  })
  const context: RunContext = {
    services,
    agent,
    sessionId,
    runId,
    lease,
    control,
    toolSet,
    chunks,
    state,
    meter,
    workspaces,
    history,
    messages,
    requests: { ...place, byCall: new Map() },
    inbox: createInbox(!acquired.isNew && parent === undefined),
    warnedSubAgents: new Set(),
  }
  return { ...context, recorder: createStepRecorder(context, session.stepCount) }
}

/** A new turn starts from nothing; a resumed one continues to count, and so does its parent. */
function createMeter(
  { clock }: RunServices,
  { agent, mode, parent }: LaunchRequest,
  { usage }: SessionState,
): Meter {
  const isNew = mode === 'execute'
  const before = isNew ? undefined : usage
  parent?.meter.countEarlier(before)
  const isStale = isNew && usage !== undefined
  return new Meter({ agent, clock, before, isStale, parent: parent?.meter })
}

/**
 * Also frees what earlier runs have left; a provider or a store that fails at that does not keep the run
 * from starting.
 */
async function openHistory(
  services: RunServices,
  { agent, toolSet }: LaunchRequest,
  { session, messages }: { readonly session: SessionState; readonly messages: readonly Message[] },
): Promise<RunHistory | undefined> {
  const isCutOff = findOpenCalls(messages).length > 0
  const loaded = await loadRunHistory(services, session, { declared: toolSet.own, isCutOff })
  if (loaded?.hasLeftovers !== true) return loaded?.history
  try {
    await collect(services, agent, { session })
  } catch (err) {
    const { sessionId } = session
    services.logger.warn({ err, sessionId }, logMessages.historyNotCollected)
  }
  return loaded.history
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
    ...(parent !== undefined && { forward: parent.forward }),
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
async function releaseLease(
  { stateStore, clock, logger }: RunServices,
  { runId, session, before }: AcquiredSession,
): Promise<void> {
  const { sessionId } = session
  try {
    const status =
      before.status === 'running' || session.messageCount > 0 ? 'interrupted' : 'failed'
    const outcome = (await stateStore.loadSession(sessionId))?.outcome ?? { status }
    await stateStore.endRun({ sessionId, runId, now: clock.now(), ...outcome })
  } catch (error) {
    if (!isLeaseLost(error)) {
      logger.warn({ err: error, sessionId, runId }, 'lease release failed')
    }
  }
}
