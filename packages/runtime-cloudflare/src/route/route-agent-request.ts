import { type Logger, noopLogger } from '@helix-agents/core'
import { notFound, RequestError, toErrorResponse, toRefusal } from '../http/http-error.ts'
import type { Authenticate } from './authenticate.ts'
import { type Caller, isCaller } from './caller.ts'
import { isWebSocketUpgrade, toObjectRequest } from './object-request.ts'

export interface RouteAgentOptions<Env> {
  /**
   * Name of the binding of the objects in `env`: one for all agents, or one for each, by name. An
   * agent without one is not there.
   */
  readonly binding: string | Readonly<Record<string, string>>
  /** Says who may do that. There is no default: `insecureAllowAnyone` opens the door. */
  readonly authenticate: Authenticate<Env>
  /** First part of the path. Default `agents`. */
  readonly prefix?: string
  /** Where objects are created. Default: near their first request. */
  readonly locationHint?: DurableObjectLocationHint
  /** Where objects have to stay. Default: anywhere. */
  readonly jurisdiction?: DurableObjectJurisdiction
  /** Default: no log. */
  readonly logger?: Logger
}

interface SessionPath {
  readonly agent: string
  readonly sessionId: string
  /** Path of the session. */
  readonly base: string
  /** What follows it. */
  readonly rest: string
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/

/**
 * Takes a request for `/agents/:agent/:session/…` to the object of the session, once it is known
 * who sends it. Errors are JSON.
 * @returns `null` for a request that is for something else
 */
export async function routeAgentRequest<Env extends object>(
  request: Request,
  env: Env,
  options: RouteAgentOptions<Env>,
): Promise<Response | null> {
  const { prefix = 'agents', logger = noopLogger } = options
  const { pathname } = new URL(request.url)
  const [first, ...parts] = pathname.slice(1).split('/')
  if (first !== prefix) return null
  try {
    return await route(request, env, { ...options, path: toSessionPath(parts, prefix) })
  } catch (error) {
    const refusal = toRefusal(error, logger, { method: request.method, path: pathname })
    return toErrorResponse(refusal)
  }
}

async function route<Env extends object>(
  request: Request,
  env: Env,
  options: RouteAgentOptions<Env> & { readonly path: SessionPath },
): Promise<Response> {
  const { path } = options
  const { agent, sessionId, base } = path
  const caller = await callerOf(request, options.authenticate, { agent, sessionId, env })
  if (caller instanceof Response) return caller
  const namespace = namespaceOf(env, options, agent)
  const { locationHint } = options
  const stub = namespace.get(
    namespace.idFromName(sessionId),
    locationHint === undefined ? {} : { locationHint },
  )
  return send(stub, toObjectRequest(request, path.rest, { agent, sessionId, base, caller }))
}

/** @throws {RequestError} 404, 400 */
function toSessionPath(
  [agent, sessionId, ...rest]: readonly string[],
  prefix: string,
): SessionPath {
  if (agent === undefined || sessionId === undefined) throw notFound('route')
  if (!NAME.test(agent)) throw notFound('agent')
  if (!NAME.test(sessionId)) {
    const message = 'a session id is 1 to 64 letters, digits, "-" or "_"'
    throw new RequestError(400, 'invalid-session-id', message)
  }
  const base = `/${prefix}/${agent}/${sessionId}`
  return { agent, sessionId, base, rest: `/${rest.join('/')}` }
}

/** @throws {RequestError} 401; 500 when nobody said how to authenticate. */
async function callerOf<Env>(
  request: Request,
  authenticate: Authenticate<Env>,
  target: Parameters<Authenticate<Env>>[1],
): Promise<Caller | Response> {
  if (typeof authenticate !== 'function') {
    const message =
      'routeAgentRequest needs the option authenticate: a function that returns who sends the' +
      ' request, or null. To let everybody in, pass insecureAllowAnyone.'
    throw new RequestError(500, 'authentication-missing', message)
  }
  const caller: unknown = await authenticate(request, target)
  if (caller instanceof Response || isCaller(caller)) return caller
  // A misspelt field must not make an owner into nobody.
  if (typeof caller === 'object' && caller !== null) {
    const message = 'authenticate has returned something that is no caller'
    throw new RequestError(500, 'caller-invalid', message)
  }
  throw new RequestError(401, 'unauthorized', 'the request is not authenticated', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

/** @throws {RequestError} 404; 500 when the binding is missing. */
function namespaceOf<Env extends object>(
  env: Env,
  { binding, jurisdiction }: RouteAgentOptions<Env>,
  agent: string,
): DurableObjectNamespace {
  const own = (names: Readonly<Record<string, string>>): string | undefined =>
    Object.hasOwn(names, agent) ? names[agent] : undefined
  const name = typeof binding === 'string' ? binding : own(binding)
  if (name === undefined) throw notFound('agent')
  const namespace: unknown = Reflect.get(env, name)
  if (!isNamespace(namespace)) {
    const message = `env.${name} is no Durable Object binding: see durable_objects in wrangler.jsonc`
    throw new RequestError(500, 'binding-missing', message)
  }
  return jurisdiction === undefined ? namespace : namespace.jurisdiction(jurisdiction)
}

function isNamespace(value: unknown): value is DurableObjectNamespace {
  return typeof value === 'object' && value !== null && 'idFromName' in value
}

/** An object that is moved or updated refuses what it had begun: what only reads is sent again. */
async function send(stub: DurableObjectStub, request: Request): Promise<Response> {
  const mayRepeat = request.method === 'GET' && !isWebSocketUpgrade(request)
  try {
    return await stub.fetch(mayRepeat ? request.clone() : request)
  } catch (error) {
    if (!isRetryable(error)) throw error
    if (mayRepeat) return stub.fetch(request)
    throw new RequestError(503, 'unavailable', 'the session is being moved: try again', {
      headers: { 'retry-after': '1' },
    })
  }
}

function isRetryable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const isOverloaded = 'overloaded' in error && error.overloaded === true
  return 'retryable' in error && error.retryable === true && !isOverloaded
}
