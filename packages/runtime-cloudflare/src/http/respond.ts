import { onDemand } from '../door.ts'
import type { Caller } from '../route/caller.ts'
import { readTarget } from '../route/object-request.ts'
import { actionOf, methodsOf, type SessionAction } from '../route/session-action.ts'
import type { AgentHost } from '../server/agent-host.ts'
import { assertMayWrite, openAccess, type SessionAccess } from '../server/session-access.ts'
import { endpoints, isRare } from './endpoints.ts'
import type { SessionRequest } from './session-request.ts'
import { notFound, RequestError, toErrorResponse, toRefusal } from './http-error.ts'
import { type BodyLimits, DEFAULT_BODY_TIMEOUT_MS } from './request-body.ts'

export const DEFAULT_MAX_BODY_BYTES = 1024 * 1024

/** Answers a request that has reached the object. Never rejects. */
export async function respond<Env>(host: AgentHost<Env>, request: Request): Promise<Response> {
  const url = new URL(request.url)
  try {
    const { base, asked, isSeed } = readTarget(request)
    const bodyLimits = bodyLimitsOf(host, asked.caller)
    const requested = actionOf(request.method, url.pathname)
    const isCustom = customEndpoint(host, url.pathname) !== undefined
    if (!isCustom && requested.action === 'delete') {
      const { removeSession } = await onDemand()
      return await removeSession(host, { request, asked, bodyLimits })
    }
    const reply = await replyTo(host, requested.action, { path: url.pathname, isSeed })
    const access = await openAccess(host, asked)
    assertMayWrite(access.caller, requested)
    return await reply({ request, url, base, asked, access, bodyLimits })
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

type Reply<Env> = (sent: SessionRequest<Env>) => Response | Promise<Response>

/** What answers a request. It may have to be loaded: it is found before the session is looked at. */
async function replyTo<Env>(
  host: AgentHost<Env>,
  action: SessionAction,
  { path, isSeed }: { readonly path: string; readonly isSeed: boolean },
): Promise<Reply<Env>> {
  if (isSeed) return (await onDemand()).createFromSeed
  const custom = customEndpoint(host, path)
  if (custom !== undefined) return ({ request, access }) => custom(request, contextOf(access))
  if (action === 'other' || action === 'delete') return () => refuse(path)
  return isRare(action) ? (await onDemand()).rareEndpoints[action] : endpoints[action]
}

/** @throws {RequestError} 404, 405 */
function refuse(path: string): never {
  const methods = methodsOf(path)
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
