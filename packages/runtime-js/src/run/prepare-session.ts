import { type JsonValue, SessionError } from '@helix-agents/core'
import { initializeAgentState, type SessionState } from '@helix-agents/core/runtime'
import type { LaunchRequest, RunServices } from '../ports.ts'
import { loadOpenRequests } from '../request/open-requests.ts'

const HINT = 'Start a new turn with execute(agent, message, { sessionId }), or branch from it.'

/** Requests that an error names. */
const MAX_NAMED = 5

/** A session before its run. */
export interface PreparedSession {
  readonly session: SessionState
  /** It was made with what the request says. */
  readonly isNew: boolean
}

/**
 * Loads the session of a run, or makes it.
 * @throws {SessionError} `other-agent`, `not-resumable`, `waiting`
 */
export async function prepareSession(
  services: RunServices,
  request: LaunchRequest,
): Promise<PreparedSession> {
  const { agent, sessionId, mode } = request
  const session = await services.stateStore.loadSession(sessionId)
  if (session === null) {
    if (mode === 'execute') return { session: await createSession(services, request), isNew: true }
    throw new SessionError('not-resumable', sessionId, 'there is no such session')
  }
  if (session.agentType !== agent.name) {
    throw new SessionError('other-agent', sessionId, `it belongs to agent ${session.agentType}`)
  }
  const reason =
    mode === 'resume' ? whyNotResumable(session, request.messages.length > 0) : undefined
  if (reason !== undefined) {
    throw new SessionError('not-resumable', sessionId, reason, { hint: HINT })
  }
  if (session.status === 'waiting' && request.messages.length > 0) {
    await assertNothingWaits(services, sessionId)
  }
  return { session, isNew: false }
}

/** A new message would drop the calls that wait. @throws {SessionError} `waiting` */
async function assertNothingWaits(services: RunServices, sessionId: string): Promise<void> {
  const requests = await loadOpenRequests(services, sessionId)
  if (requests.length === 0) return
  const shown = requests
    .slice(0, MAX_NAMED)
    .map(({ requestId, preview }) => `${requestId} (${preview.title})`)
  const more = requests.length > MAX_NAMED ? ` and ${requests.length - MAX_NAMED} more` : ''
  const detail = `it waits for the answer to ${shown.join(', ')}${more}`
  throw new SessionError('waiting', sessionId, detail, {
    hint: 'Answer with respond(agent, sessionId, requestId, { decision }), or abort the session.',
  })
}

/** Why a session cannot be resumed; `undefined` when it can. */
export function whyNotResumable(session: SessionState, hasMessage: boolean): string | undefined {
  if (session.status === 'aborted') return 'it was aborted'
  if (hasMessage) return undefined
  if (session.status === 'completed') return 'it is completed'
  return session.messageCount === 0 ? 'it has no message yet' : undefined
}

async function createSession(
  { stateStore, clock }: RunServices,
  { agent, sessionId, state, labels, parent }: LaunchRequest,
): Promise<SessionState> {
  const customState = await initializeAgentState(agent, state)
  return stateStore.createSession({
    ...labels,
    sessionId,
    agentType: agent.name,
    customState,
    ...(parent !== undefined && { parentSessionId: parent.sessionId }),
    now: clock.now(),
  })
}

/** The custom state of a run, with the fields that the caller replaces. */
export async function customStateOf(
  { session: { customState }, isNew }: PreparedSession,
  { agent, state }: LaunchRequest,
): Promise<{ readonly value: JsonValue | undefined; readonly isChanged: boolean }> {
  if (state === undefined || isNew) {
    return { value: customState, isChanged: false }
  }
  const value = await initializeAgentState(agent, { ...fieldsOf(customState), ...state })
  return { value, isChanged: true }
}

function fieldsOf(state: JsonValue | undefined): Readonly<Record<string, unknown>> {
  const isRecord = typeof state === 'object' && state !== null && !Array.isArray(state)
  return isRecord ? Object.fromEntries(Object.entries(state)) : {}
}
