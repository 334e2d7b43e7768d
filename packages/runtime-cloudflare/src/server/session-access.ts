import type { Agent } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import type { AgentHandle } from '@helix-agents/runtime-js'
import { notFound, RequestError } from '../http/http-error.ts'
import type { Caller } from '../route/caller.ts'
import type { RequestedAction } from '../route/session-action.ts'
import type { AgentHost } from './agent-host.ts'

/** One caller and the session of the object, as far as the caller may use it. */
export interface SessionAccess<Env> {
  readonly host: AgentHost<Env>
  readonly caller: Caller
  readonly agent: Agent
  /** As it was when the request came; `null` when there is none yet. */
  readonly session: SessionState | null
  /** How often the object had been emptied then. */
  readonly erasures: number
}

/** Who asks, and for which agent. */
export interface AccessRequest {
  readonly caller: Caller
  /** Absent when the object is called past `routeAgentRequest`. */
  readonly agent?: string
}

/**
 * Loads the session for a caller. A session of another user or of another agent is not there.
 * @throws {RequestError} 404; 409 while it is being deleted.
 */
export async function openAccess<Env>(
  host: AgentHost<Env>,
  { caller, agent: named }: AccessRequest,
): Promise<SessionAccess<Env>> {
  const { erasures } = host
  const session = await host.stateStore.loadSession(host.sessionId)
  if (session !== null && !mayUse(caller, session)) throw notFound('session')
  const agent = host.agents.get(named ?? session?.agentType ?? onlyOf(host.agents) ?? '')
  if (agent === undefined) throw notFound('agent')
  if (session !== null && session.agentType !== agent.name) throw notFound('session')
  host.assertNotErasing()
  return { host, caller, agent, session, erasures }
}

/**
 * The session as it is now, after the application was asked: meanwhile it may have been deleted,
 * and its id may be that of another caller.
 * @throws {RequestError} 404, 409
 */
export async function reopenAccess<Env>(access: SessionAccess<Env>): Promise<SessionAccess<Env>> {
  const { host, caller, agent, session, erasures } = access
  const now = await openAccess(host, { caller, agent: agent.name })
  if (session !== null && host.erasures !== erasures) throw notFound('session')
  return now
}

function mayUse({ userId, isOperator }: Caller, session: SessionState): boolean {
  return session.userId === undefined || session.userId === userId || isOperator === true
}

function onlyOf(agents: ReadonlyMap<string, Agent>): string | undefined {
  const [first] = agents.keys()
  return agents.size === 1 ? first : undefined
}

/** @throws {RequestError} 403 */
export function assertMayWrite({ isReadOnly }: Caller, { isWrite }: RequestedAction): void {
  if (isReadOnly !== true || !isWrite) return
  throw new RequestError(403, 'read-only', 'the caller may only read')
}

/** Whether there is a session, and it is one that the caller may use. */
export async function maySee<Env>(host: AgentHost<Env>, asked: AccessRequest): Promise<boolean> {
  const session = await host.stateStore.loadSession(host.sessionId)
  if (session === null || !mayUse(asked.caller, session)) return false
  return asked.agent === undefined || asked.agent === session.agentType
}

/** @throws {RequestError} 404 for a session that was never started. */
export function known({ session }: { readonly session: SessionState | null }): SessionState {
  if (session === null) throw notFound('session')
  return session
}

/** @throws {RequestError} 404 */
export async function handleOf<Env>({ host, agent }: SessionAccess<Env>): Promise<AgentHandle> {
  const handle = await host.executor.getHandle(agent, host.sessionId)
  if (handle === null) throw notFound('session')
  return handle
}
