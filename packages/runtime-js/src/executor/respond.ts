import {
  type Agent,
  AgentAlreadyRunningError,
  SessionError,
  StateStoreError,
} from '@helix-agents/core'
import type {
  RequestResolution,
  SessionInteractionStore,
  SessionRequest,
} from '@helix-agents/core/runtime'
import type { RunServices } from '../ports.ts'
import { checkAnswer, type RequestResponse } from '../request/check-answer.ts'
import { loadOwnSession } from '../session/load-own-session.ts'
import type { AgentHandle } from './agent-handle.ts'

/** An answer that was stored. */
export interface RespondResult<TOutput = unknown> {
  /** With its resolution. */
  readonly request: SessionRequest
  /** The run that continues; absent when another one holds the session, or none is to be resumed. */
  readonly handle?: AgentHandle<TOutput>
}

interface Responding<TOutput> {
  readonly sessionId: string
  readonly requestId: string
  readonly response: RequestResponse
  readonly resume: () => Promise<AgentHandle<TOutput>>
}

/** Stores the answer to a request, then resumes its session when no run holds it. */
export async function respond<TOutput>(
  services: RunServices,
  agent: Agent,
  { sessionId, requestId, response, resume }: Responding<TOutput>,
): Promise<RespondResult<TOutput>> {
  const { stateStore } = services
  const found = await stateStore.getRequest(sessionId, requestId)
  if (found === undefined) throw unknownRequest(sessionId, requestId)
  await loadOwnSession(services, agent, sessionId)
  assertOpen(found, services.clock.now())
  const answer = await checkAnswer(services, agent, found, response)
  const { by } = response
  const at = services.clock.now()
  const request = await resolve(stateStore, found, {
    ...answer,
    at,
    ...(by !== undefined && { by }),
  })
  const handle = response.resume === false ? undefined : await tryResume(services, request, resume)
  return { request, ...(handle !== undefined && { handle }) }
}

async function resolve(
  store: SessionInteractionStore,
  { sessionId, requestId }: SessionRequest,
  resolution: RequestResolution,
): Promise<SessionRequest> {
  try {
    const { request, isFirst } = await store.resolveRequest(sessionId, requestId, resolution)
    if (!isFirst) assertOpen(request, resolution.at)
    return request
  } catch (error) {
    const isGone = StateStoreError.isInstance(error) && error.code === 'not-found'
    throw isGone ? unknownRequest(sessionId, requestId) : error
  }
}

/** @throws {SessionError} `already-decided`, `expired` */
function assertOpen({ sessionId, requestId, ...request }: SessionRequest, now: number): void {
  const { resolution, expiresAt = Infinity } = request
  const about = `request ${requestId}`
  if (resolution?.decision === 'expired' || (resolution === undefined && now >= expiresAt)) {
    const at = new Date(resolution?.at ?? expiresAt).toISOString()
    throw new SessionError('expired', sessionId, `the time to answer ${about} was over at ${at}`)
  }
  if (resolution === undefined) return
  const { decision, by, at } = resolution
  const who = by === undefined ? '' : ` by ${by}`
  const detail = `${about} was decided${who} at ${new Date(at).toISOString()}: ${decision}`
  throw new SessionError('already-decided', sessionId, detail)
}

function unknownRequest(sessionId: string, requestId: string): SessionError {
  const shown = JSON.stringify(requestId.slice(0, 100))
  return new SessionError('unknown-request', sessionId, `it has no request ${shown}`)
}

/** A run that holds the session looks for answers when it ends: nothing is lost. */
async function tryResume<TOutput>(
  { stateStore }: RunServices,
  { sessionId }: SessionRequest,
  resume: () => Promise<AgentHandle<TOutput>>,
): Promise<AgentHandle<TOutput> | undefined> {
  const session = await stateStore.loadSession(sessionId)
  if (session?.status !== 'waiting') return undefined
  try {
    return await resume()
  } catch (error) {
    if (AgentAlreadyRunningError.isInstance(error)) return undefined
    throw error
  }
}
