import type { Logger } from '@helix-agents/core'
import { FleetError, type FleetErrorCode } from '@helix-agents/core/runtime'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { WireFailure } from './wire.ts'

const STATUSES: Readonly<Record<FleetErrorCode, ContentfulStatusCode>> = {
  'capacity-exhausted': 429,
  'invalid-transition': 409,
  'unknown-sandbox': 404,
  'already-exists': 409,
  'invalid-record': 400,
  'invalid-query': 400,
  conflict: 409,
  'lease-lost': 409,
  'breaker-open': 503,
  'driver-failed': 502,
  'not-supported': 501,
  'operation-timeout': 504,
  unavailable: 503,
  corrupt: 500,
  'schema-version': 500,
  'config-invalid': 500,
}

/** The body of every answer from 400 on. @param details Further fields, by code. */
export function bodyOf(code: string, message: string, details?: object): WireFailure {
  return { error: { code, message, ...(details !== undefined && { details }) } }
}

/** The answer to an error. Only a `FleetError` is described to the caller. */
export function answerFailure(error: unknown, context: Context, logger: Logger): Response {
  if (FleetError.isInstance(error)) {
    const status = STATUSES[error.code]
    if (status >= 500) logger.error({ err: error }, 'fleet request failed')
    return context.json(bodyOf(error.code, error.message), status)
  }
  if (error instanceof HTTPException) {
    return context.json(bodyOf('bad-request', error.message), error.status)
  }
  logger.error({ err: error }, 'fleet request failed')
  return context.json(bodyOf('internal', 'the request failed; the log of the server says why'), 500)
}

/** Allowed methods by path. */
const METHODS: readonly (readonly [path: RegExp, allow: string])[] = [
  [/\/api\/sandbox\/(cleanup(\/emergency)?|reconcile)$/, 'POST'],
  [/\/api\/sandbox\/(stats|list|[^/]+\/(logs|resources))$/, 'GET'],
  [/\/api\/sandbox\/[^/]+$/, 'GET, DELETE'],
  [/\/(metrics|openapi\.json|dashboard\.(js|css))?$/, 'GET'],
]

/** The answer where no route matches: 405 for another method of a known path. */
export function answerUnknown(context: Context): Response {
  const allow = METHODS.find(([path]) => path.test(context.req.path))?.[1]
  if (allow === undefined || allow.includes(context.req.method)) {
    return context.json(bodyOf('not-found', 'no such route'), 404)
  }
  context.header('Allow', allow)
  return context.json(bodyOf('method-not-allowed', `use ${allow}`), 405)
}
