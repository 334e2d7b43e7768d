import { type Clock, type Logger, noopLogger, systemClock } from '@helix-agents/core'
import { notFound, RequestError, toErrorResponse, toRefusal } from '../http/http-error.ts'
import { branchSchema, DEFAULT_BODY_TIMEOUT_MS, readBody } from '../http/request-body.ts'
import type { Authenticate } from './authenticate.ts'
import { branchWithFiles } from './branch-with-files.ts'
import type { Caller } from './caller.ts'
import {
  answerPreflight,
  assertCors,
  assertOriginMayWrite,
  type CorsOptions,
  isPreflight,
  withCors,
} from './cors.ts'
import { findCaller } from './find-caller.ts'
import { toObjectRequest } from './object-request.ts'
import { sendToObject } from './send-to-object.ts'
import { actionOf, type RequestedAction } from './session-action.ts'
import { type SessionPath, siblingOf, toSessionPath } from './session-path.ts'

/** What `routeAgentRequest` is given. */
export interface RouteAgentOptions<Env> {
  /**
   * Name of the binding of the objects in `env`: one for all agents, or one for each, by name. An
   * agent without one is not there.
   */
  readonly binding: string | Readonly<Record<string, string>>
  /** Decides who may do that. No default: `insecureAllowAnyone` allows every request. */
  readonly authenticate: Authenticate<Env>
  /**
   * How long `authenticate` may take, in milliseconds; after that the request is a 503. Default
   * 10 000.
   */
  readonly authenticateTimeoutMs?: number
  /**
   * How long the body that asks for a branch may take, in milliseconds; after that it is a 408.
   * Default 30 000.
   */
  readonly bodyTimeoutMs?: number
  /** First part of the path. Default `agents`. */
  readonly prefix?: string
  /**
   * Which pages of other origins may use the routes. Default: none. What would change a session is a
   * 403 when a page of any other origin sends it, and so is its WebSocket.
   */
  readonly cors?: CorsOptions
  /** Where objects are created. Default: near their first request. */
  readonly locationHint?: DurableObjectLocationHint
  /** Where objects have to stay. Default: anywhere. */
  readonly jurisdiction?: DurableObjectJurisdiction
  /** Default: no log. */
  readonly logger?: Logger
  /** Time, for tests. Default: the time of the machine. */
  readonly clock?: Clock
}

/** What is needed to take one request to its object. */
interface Routing<Env> {
  readonly request: Request
  readonly env: Env
  readonly options: RouteAgentOptions<Env>
}

/** The body that asks for a branch is a few ids. */
const MAX_BRANCH_BODY_BYTES = 4096

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
  const { prefix = 'agents', logger = noopLogger, cors } = options
  const { pathname } = new URL(request.url)
  const [first, ...parts] = pathname.slice(1).split('/')
  if (first !== prefix) return null
  try {
    if (cors !== undefined) assertCors(cors)
    if (cors !== undefined && isPreflight(request)) return answerPreflight(request, cors)
    const response = withoutStoring(await answer({ request, env, options }, parts))
    return cors === undefined ? response : withCors(request, response, cors)
  } catch (error) {
    // Options that cannot be used.
    return toErrorResponse(toRefusal(error, logger, { method: request.method }))
  }
}

/** What a session says is for its caller: no cache keeps it, unless the application says so. */
function withoutStoring(response: Response): Response {
  if (response.webSocket || response.headers.has('cache-control')) return response
  const own = new Response(response.body, response)
  own.headers.set('cache-control', 'no-store')
  return own
}

/** Never rejects. */
async function answer<Env extends object>(
  routing: Routing<Env>,
  parts: readonly string[],
): Promise<Response> {
  const { request, options } = routing
  const { prefix = 'agents', logger = noopLogger } = options
  try {
    return await route(routing, toSessionPath(parts, prefix))
  } catch (error) {
    const { pathname: path } = new URL(request.url)
    return toErrorResponse(toRefusal(error, logger, { method: request.method, path }))
  }
}

async function route<Env extends object>(
  routing: Routing<Env>,
  path: SessionPath,
): Promise<Response> {
  const { request } = routing
  const asked = actionOf(request.method, path.rest)
  // A preflight asks and changes nothing.
  if (asked.isWrite && request.method !== 'OPTIONS')
    assertOriginMayWrite(request, routing.options.cors)
  const caller = await callerOf(routing, path, asked)
  if (caller instanceof Response) return caller
  if (asked.action === 'branch') return branch(routing, path, caller)
  const { sessionId, agent, base } = path
  const target = { agent, sessionId, base, caller }
  return sendToObject(stubOf(routing, path), toObjectRequest(request, path.rest, target))
}

/** A session is an object: the new one gets what it begins with from that of its source. */
async function branch<Env extends object>(
  routing: Routing<Env>,
  path: SessionPath,
  caller: Caller,
): Promise<Response> {
  const { request, options } = routing
  const { bodyTimeoutMs: timeoutMs = DEFAULT_BODY_TIMEOUT_MS, clock = systemClock } = options
  const limits = { maxBytes: MAX_BRANCH_BODY_BYTES, timeoutMs, clock }
  const body = await readBody(request, branchSchema, limits)
  const { sessionId = crypto.randomUUID(), ...from } = body
  const to = siblingOf(path, sessionId)
  const starter = await callerOf(routing, to, { action: 'start', isWrite: true })
  if (starter instanceof Response) return starter
  const ask = withBody(request, JSON.stringify(from))
  const target = { agent: path.agent, sessionId: path.sessionId, base: path.base, caller }
  const seed = await sendToObject(stubOf(routing, path), toObjectRequest(ask, '/branch', target))
  if (!seed.ok) return seed
  if (from.files !== undefined) {
    return branchWithFiles({
      request,
      from: { stub: stubOf(routing, path), path, caller },
      to: { stub: stubOf(routing, to), path: to, caller: starter },
      seed,
    })
  }
  const bring = withBody(request, seed.body)
  const next = { agent: to.agent, sessionId, base: to.base, caller: starter, isSeed: true }
  return sendToObject(stubOf(routing, to), toObjectRequest(bring, to.rest, next))
}

function withBody({ url, headers }: Request, body: BodyInit | null): Request {
  const passed = new Headers(headers)
  passed.delete('content-length')
  passed.set('content-type', 'application/json')
  return new Request(url, { method: 'POST', headers: passed, body })
}

function callerOf<Env>(
  { request, env, options }: Routing<Env>,
  { agent, sessionId }: SessionPath,
  asked: RequestedAction,
): Promise<Caller | Response> {
  return findCaller(request, { ...asked, agent, sessionId, env }, options)
}

/** @throws {RequestError} 404; 500 when the binding is missing. */
function stubOf<Env extends object>(
  { env, options }: Routing<Env>,
  { agent, sessionId }: SessionPath,
): DurableObjectStub {
  const { locationHint } = options
  const namespace = namespaceOf(env, options, agent)
  const id = namespace.idFromName(sessionId)
  return namespace.get(id, locationHint === undefined ? {} : { locationHint })
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
    const message =
      `env.${name} is no Durable Object binding: add { "name": "${name}", "class_name": "…" } to` +
      ' durable_objects.bindings in wrangler.jsonc'
    throw new RequestError(500, 'binding-missing', message)
  }
  return jurisdiction === undefined ? namespace : namespace.jurisdiction(jurisdiction)
}

function isNamespace(value: unknown): value is DurableObjectNamespace {
  return typeof value === 'object' && value !== null && 'idFromName' in value
}
