import type { Agent, Logger, SessionStateStore } from '@helix-agents/core'
import type { JSAgentExecutor } from '@helix-agents/runtime-js'
import { Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { authenticate } from './authenticate.ts'
import { RequestError, toErrorResponse } from './http-error.ts'
import { addOperatorRoutes } from './operator-routes.ts'
import { addSessionRoutes } from './session-routes.ts'
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
  /** Asked of every request but `GET /healthz`. Default: nobody is asked. */
  readonly token?: string
  /** Default 1 MiB. */
  readonly maxBodyBytes?: number
}

/** The HTTP surface, without a socket: tests call `app.request`. */
export function createApp(parts: AppParts): Hono {
  const { logger, token, maxBodyBytes = 1024 * 1024 } = parts
  const app = new Hono()
  app.onError((error, context) => toErrorResponse(error, context, logger))
  app.notFound((context) => context.json({ error: 'no such route', code: 'not-found' }, 404))
  if (token !== undefined) app.use(authenticate(token))
  app.use(methodNotAllowed({ app, onMethodNotAllowed: refuseMethod }))
  app.use(bodyLimit({ maxSize: maxBodyBytes, onError: () => refuseBody(maxBodyBytes) }))
  app.use(refuseWorkWhen(parts.closing))
  addOperatorRoutes(app, parts)
  addSessionRoutes(app, parts)
  addStreamRoute(app, parts)
  return app
}

function refuseMethod(_: unknown, allowed: readonly string[]): Response {
  const allow = allowed.join(', ')
  const body = { error: `allowed: ${allow}`, code: 'method-not-allowed' }
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

function refuseBody(maxBytes: number): never {
  throw new RequestError(413, 'too-large', `the body is larger than ${maxBytes} bytes`)
}
