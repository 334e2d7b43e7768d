import type { SessionLabels, SessionStatus } from '@helix-agents/core/runtime'
import type {
  AgentHandle,
  RequestResponse,
  RespondResult,
  RestoreCheckpointOptions,
  SendOptions,
  SentMessage,
} from '@helix-agents/runtime-js'
import { notFound, RequestError } from '../http/http-error.ts'
import type { Caller } from '../route/caller.ts'
import type { ExecutionState, TurnRequest } from './server-hooks.ts'
import { handleOf, known, reopenAccess, type SessionAccess } from './session-access.ts'

/** What clients ask of a session, over HTTP or over a WebSocket. */
export type Turn<Env> = (access: SessionAccess<Env>) => Promise<AgentHandle>

/** Starts a new session. @throws {RequestError} 409 for one that is there. */
export function start<Env>(message: string, state?: Readonly<Record<string, unknown>>): Turn<Env> {
  return async (access) => {
    assertNew(access)
    return begin(access, {
      message,
      assertMay: assertNew,
      ...(state !== undefined && { state }),
    })
  }
}

function assertNew<Env>({ session }: SessionAccess<Env>): void {
  if (session === null || session.status === 'idle') return
  throw new RequestError(409, 'session-exists', 'the session exists: send it a message')
}

/** Sends a message. It resumes a turn that was not finished; otherwise it starts the next one. */
export function sendMessage<Env>(message: string): Turn<Env> {
  return async (access) => {
    known(access)
    if (isUnfinished(access)) return resume<Env>(message)(access)
    return begin(access, { message, assertMay: known })
  }
}

/**
 * Queues a message for the run under way, or for what comes after the answer of a person.
 * @returns `undefined` when there is no such run, or no delivery was asked for: send it as a turn
 */
export function queue<Env>(
  message: string,
  { delivery, messageId }: SendOptions,
): (access: SessionAccess<Env>) => Promise<SentMessage | undefined> {
  return async (access) => {
    const { sessionId, status } = known(access)
    const isBusy = status === 'running' || status === 'waiting'
    if (delivery === undefined || !isBusy) return undefined
    const options = { delivery, ...(messageId !== undefined && { messageId }) }
    return access.host.executor.send(access.agent, sessionId, message, options)
  }
}

/** Resumes a session. @throws {RequestError} 409 for one that has ended. */
export function resume<Env>(message?: string): Turn<Env> {
  return async (access) => {
    const { host, agent } = access
    const { sessionId, status } = known(access)
    // The executor would say so too, once the run is recorded and the alarm is set.
    if (status === 'aborted' || (status === 'completed' && message === undefined)) {
      throw new RequestError(409, 'not-resumable', `the session is ${status}`)
    }
    const turn = turnOf(access, message)
    const { hooks } = host.options
    if (hooks?.beforeResume !== undefined) {
      await hooks.beforeResume(turn)
      known(await reopenAccess(access))
    }
    const options = { keepWorkspaces: keeps(access), ...(message !== undefined && { message }) }
    const handle = await host.executor.resume(agent, sessionId, options)
    await hooks?.afterResume?.({ ...turn, runId: handle.runId })
    return handle
  }
}

/**
 * Answers a request, which resumes the session.
 * @throws {SessionError} `unknown-request`, `already-decided`, `expired`, `invalid-answer`
 */
export function answer<Env>(
  requestId: string,
  given: RequestResponse,
): (access: SessionAccess<Env>) => Promise<RespondResult> {
  return async (access) => {
    const { host, agent, caller } = access
    const { sessionId } = known(access)
    // Who answers is what the application says, never what the client does.
    const by = caller.userId === undefined ? {} : { by: caller.userId }
    return host.executor.respond(agent, sessionId, requestId, { ...given, ...by })
  }
}

/**
 * Takes the session back to a checkpoint, with its files or without.
 * @throws {RequestError} 404 when there is none.
 * @throws {SessionError} `files-missing`
 */
export function restore<Env>(
  checkpointId: string,
  options: RestoreCheckpointOptions = {},
): Turn<Env> {
  return async (access) => {
    const { host, agent } = access
    const { sessionId } = known(access)
    const checkpoint = await host.stateStore.getCheckpoint(sessionId, checkpointId)
    if (checkpoint === null) throw notFound('checkpoint')
    const handle = await host.executor.restoreCheckpoint(agent, sessionId, checkpointId, options)
    await host.forgetCutOffRun()
    return handle
  }
}

/** Lets the run stop after its step. @throws {RequestError} 409 when there is none. */
export async function interrupt<Env>(access: SessionAccess<Env>): Promise<AgentHandle> {
  const { host } = access
  const { sessionId, status } = known(access)
  host.assertMayChange()
  const handle = await handleOf(access)
  if (host.watchdog.isRunning(sessionId)) await handle.interrupt()
  // It was cut off and waits for its recovery, which no longer comes.
  else if (status === 'running') await host.pauseCutOffRun()
  else throw notRunning(status)
  return handle
}

/**
 * Stops the run, or ends one that could be resumed, for good.
 * @throws {RequestError} 409 when there is none.
 */
export async function abort<Env>(access: SessionAccess<Env>): Promise<AgentHandle> {
  const { host } = access
  const { sessionId } = known(access)
  host.assertMayChange()
  const handle = await handleOf(access)
  const { status } = known({ session: await host.stateStore.loadSession(sessionId) })
  if (!abortable.has(status)) throw notRunning(status)
  await handle.abort()
  await host.forgetCutOffRun()
  return handle
}

/** The others have ended, or have not begun. */
const abortable: ReadonlySet<SessionStatus> = new Set<SessionStatus>([
  'running',
  'waiting',
  'interrupted',
  'failed',
])

function notRunning(status: SessionStatus): RequestError {
  return new RequestError(409, 'not-running', `the session does not run: it is ${status}`)
}

interface NewTurn {
  readonly message: string
  readonly state?: Readonly<Record<string, unknown>>
  /** Checks the session again, once the hook has agreed. */
  readonly assertMay: <Env>(access: SessionAccess<Env>) => unknown
}

async function begin<Env>(
  access: SessionAccess<Env>,
  { message, state, assertMay }: NewTurn,
): Promise<AgentHandle> {
  const { host, agent } = access
  const { hooks } = host.options
  const turn = turnOf(access, message)
  if (hooks?.beforeStart !== undefined) {
    await hooks.beforeStart(turn)
    const now = await reopenAccess(access)
    assertMay(now)
    // The hook may have interrupted the run that was under way: the message resumes that one.
    if (now.session?.status === 'interrupted') return resume<Env>(message)(now)
  }
  const input = state === undefined ? message : { message, state }
  const labels = labelsOf(access.caller)
  const options = { ...labels, sessionId: host.sessionId, keepWorkspaces: keeps(access) }
  const handle = await host.executor.execute(agent, input, options)
  await hooks?.afterStart?.({ ...turn, runId: handle.runId })
  return handle
}

function labelsOf({ userId, tags, metadata }: Caller): SessionLabels {
  return {
    ...(userId !== undefined && { userId }),
    ...(tags !== undefined && { tags }),
    ...(metadata !== undefined && { metadata }),
  }
}

function isUnfinished<Env>({ session }: SessionAccess<Env>): boolean {
  return session?.status === 'interrupted' || session?.status === 'failed'
}

function keeps<Env>({ host }: SessionAccess<Env>): boolean {
  return host.options.keepWorkspaces ?? true
}

function turnOf<Env>(access: SessionAccess<Env>, message: string | undefined): TurnRequest {
  const { host, agent, caller } = access
  return {
    sessionId: host.sessionId,
    agent: agent.name,
    caller,
    executionState: executionStateOf(access),
    ...(message !== undefined && { message }),
  }
}

function executionStateOf<Env>(access: SessionAccess<Env>): ExecutionState {
  const { host } = access
  return {
    get isExecuting() {
      return host.watchdog.isRunning(host.sessionId)
    },
    interrupt: async (reason) => {
      if (!host.watchdog.isRunning(host.sessionId)) return
      host.logger.info({ sessionId: host.sessionId, reason }, 'run is interrupted by a hook')
      const handle = await handleOf(access)
      await handle.interrupt()
      await handle.result()
    },
  }
}
