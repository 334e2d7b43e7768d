import { readTarget } from '../route/object-request.ts'
import type { AgentHost } from '../server/agent-host.ts'
import { openAccess, type SessionAccess } from '../server/session-access.ts'
import { endpoints } from './endpoints.ts'
import { notFound, RequestError, toErrorResponse, toRefusal } from './http-error.ts'

export const DEFAULT_MAX_BODY_BYTES = 1024 * 1024

/** Answers a request that has reached the object. Never rejects. */
export async function respond<Env>(host: AgentHost<Env>, request: Request): Promise<Response> {
  const url = new URL(request.url)
  try {
    const { base, ...asked } = readTarget(request)
    const access = await openAccess(host, asked)
    const custom = ownEntry(host.options.endpoints ?? {}, url.pathname)
    if (custom !== undefined) return await custom(request, contextOf(access))
    const endpoint = findEndpoint(url.pathname, request.method)
    const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = host.options
    return await endpoint({ request, url, base, access, maxBodyBytes })
  } catch (error) {
    const fields = { method: request.method, path: url.pathname }
    return toErrorResponse(toRefusal(error, host.logger, fields))
  }
}

/** @throws {RequestError} 404, 405 */
function findEndpoint(path: string, method: string) {
  const methods = endpoints.get(path)
  if (methods === undefined) throw notFound('route')
  const endpoint = ownEntry(methods, method)
  if (endpoint !== undefined) return endpoint
  const allow = Object.keys(methods).join(', ')
  throw new RequestError(405, 'method-not-allowed', `allowed: ${allow}`, { headers: { allow } })
}

function contextOf<Env>({ host, caller }: SessionAccess<Env>) {
  const { env, ctx, sessionId, executor, stateStore, streamManager } = host
  return { env, ctx, sessionId, caller, executor, stateStore, streamManager }
}

function ownEntry<T>(entries: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(entries, key) ? entries[key] : undefined
}
