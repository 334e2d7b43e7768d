import { type Agent, type Clock, type Logger, systemClock } from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import type { JSAgentExecutor } from '@helix-agents/runtime-js'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { authenticate } from './authenticate.ts'
import { BodyReader } from './body-reader.ts'
import { addHistoryRoutes } from './history-routes.ts'
import { errorBody, RequestError, toErrorResponse } from './http-error.ts'
import { addOperatorRoutes } from './operator-routes.ts'
import { refuseForeignPages, refuseOtherHosts } from './page-checks.ts'
import { addRequestRoutes } from './request-routes.ts'
import { addSessionRoutes } from './session-routes.ts'
import { StreamPlaces } from './stream-places.ts'
import { addStreamRoute } from './stream-route.ts'

/** What `/metrics` shows. */
export interface MetricsPage {
  readonly contentType: string
  text(): string | Promise<string>
}

export interface AppParts {
  readonly agent: Agent
  readonly executor: JSAgentExecutor
  readonly stateStore: SessionStateStore
  readonly metrics: MetricsPage
  readonly logger: Logger
  /** Aborts when the server stops: streams end, and `/healthz` says so. */
  readonly closing: AbortSignal
  /** Called for every request but `GET /healthz`. Default: no check. */
  readonly token?: string
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number
  /** How long a body may take to arrive, in milliseconds. Default 30 000. */
  readonly bodyTimeoutMs?: number
  /** Bodies on their way at a time. Default 100. */
  readonly maxUnreadBodies?: number
  /** Readers of streams at a time. Default 1000. */
  readonly maxStreams?: number
  /** Those of one caller. Default 20. */
  readonly maxStreamsPerCaller?: number
  /** Tells callers apart, for their streams. Default: all requests are of one caller. */
  readonly callerOf?: (context: Context) => string
  /** Default: the time of the machine. */
  readonly clock?: Clock
}

/** What the routes use. */
export interface RouteParts extends AppParts {
  readonly bodies: BodyReader
}

/** The HTTP surface, without a socket: tests call `app.request`. */
export function createApp(parts: AppParts): Hono {
  const { logger, token, clock = systemClock } = parts
  const { maxBodyBytes = 1024 * 1024, bodyTimeoutMs = 30_000, maxUnreadBodies = 100 } = parts
  const limits = { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs, maxUnread: maxUnreadBodies }
  const bodies = new BodyReader(limits, clock)
  const { maxStreams = 1000, maxStreamsPerCaller = 20 } = parts
  const places = new StreamPlaces({ max: maxStreams, maxPerCaller: maxStreamsPerCaller })
  const app = new Hono()
  app.onError((error, context) => toErrorResponse(error, context, logger))
  app.notFound((context) => context.json(errorBody('not-found', 'no such route'), 404))
  // Without a token whoever reaches the server is let in: also a page that a browser shows.
  app.use(token === undefined ? refuseOtherHosts : authenticate(token))
  app.use(refuseForeignPages)
  app.use(methodNotAllowed({ app, onMethodNotAllowed: refuseMethod }))
  app.use(refuseWorkWhen(parts.closing))
  addOperatorRoutes(app, parts)
  addSessionRoutes(app, { ...parts, bodies })
  addRequestRoutes(app, { ...parts, bodies })
  addHistoryRoutes(app, { ...parts, bodies })
  addStreamRoute(app, parts, places)
  return app
}

function refuseMethod(_: unknown, allowed: readonly string[]): Response {
  const allow = allowed.join(', ')
  const body = errorBody('method-not-allowed', `allowed: ${allow}`)
  return Response.json(body, { status: 405, headers: { allow } })
}

/** A run that begins now would be stopped at once: clients try again with the next process. */
function refuseWorkWhen(closing: AbortSignal): MiddlewareHandler {
  return ({ req }, next) => {
    if (closing.aborted && req.method === 'POST')
      throw new RequestError(503, 'stopping', 'the server stops')
    return next()
  }
}
