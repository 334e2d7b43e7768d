import type { Caller } from '../route/caller.ts'
import { readTarget } from '../route/object-request.ts'
import { actionOf, methodsOf } from '../route/session-action.ts'
import type { AgentHost } from '../server/agent-host.ts'
import { assertMayWrite, openAccess, type SessionAccess } from '../server/session-access.ts'
import { createFromSeed } from './branch-seed.ts'
import { endpoints } from './endpoints.ts'
import type { SessionRequest } from './session-request.ts'
import { notFound, RequestError, toErrorResponse, toRefusal } from './http-error.ts'
import { removeSession } from './remove-session.ts'
import { type BodyLimits, DEFAULT_BODY_TIMEOUT_MS } from './request-body.ts'

export const DEFAULT_MAX_BODY_BYTES = 1024 * 1024

/** Answers a request that has reached the object. Never rejects. */
export async function respond<Env>(host: AgentHost<Env>, request: Request): Promise<Response> {
  const url = new URL(request.url)
  try {
    const { base, asked, isSeed } = readTarget(request)
    const bodyLimits = bodyLimitsOf(host, asked.caller)
    const isCustom = customEndpoint(host, url.pathname) !== undefined
    if (!isCustom && actionOf(request.method, url.pathname).action === 'delete')
      return await removeSession(host, { request, asked, bodyLimits })
    const access = await openAccess(host, asked)
    assertMayWrite(access.caller, actionOf(request.method, url.pathname))
    const sent = { request, url, base, asked, access, bodyLimits }
    return await answer(sent, isSeed)
  } catch (error) {
    const fields = { method: request.method, path: url.pathname }
    return toErrorResponse(toRefusal(error, host.logger, fields))
  }
}

function bodyLimitsOf<Env>(host: AgentHost<Env>, caller: Caller): BodyLimits {
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES, bodyTimeoutMs = DEFAULT_BODY_TIMEOUT_MS } =
    host.options
  const takePlace = (): (() => void) => host.places.bodies.take(caller)
  return { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs, clock: host.clock, takePlace }
}

/** @throws {RequestError} 404, 405 */
async function answer<Env>(sent: SessionRequest<Env>, isSeed: boolean): Promise<Response> {
  const { request, url, access } = sent
  if (isSeed) return createFromSeed(sent)
  const custom = customEndpoint(access.host, url.pathname)
  if (custom !== undefined) return custom(request, contextOf(access))
  const { action } = actionOf(request.method, url.pathname)
  if (action !== 'other' && action !== 'delete') return endpoints[action](sent)
  const methods = methodsOf(url.pathname)
  if (methods === undefined) throw notFound('route')
  const allow = Object.keys(methods).join(', ')
  throw new RequestError(405, 'method-not-allowed', `allowed: ${allow}`, { headers: { allow } })
}

/** The endpoint of the application for a path. */
export function customEndpoint<Env>({ options }: AgentHost<Env>, path: string) {
  const { endpoints: own = {} } = options
  return Object.hasOwn(own, path) ? own[path] : undefined
}

function contextOf<Env>({ host, caller }: SessionAccess<Env>) {
  const { env, ctx, sessionId, executor, stateStore, streamManager } = host
  return { env, ctx, sessionId, caller, executor, stateStore, streamManager }
}
