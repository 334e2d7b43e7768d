import {
  AgentAlreadyRunningError,
  HelixError,
  type Logger,
  SessionError,
  StateStoreError,
} from '@helix-agents/core'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'

export type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 429 | 500 | 503

/** A refusal of this server. Its message is shown to the client. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: ErrorStatus
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    status: ErrorStatus,
    code: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

const storeStatus: Readonly<Record<StateStoreError['code'], ErrorStatus>> = {
  'not-found': 404,
  'invalid-query': 400,
  conflict: 409,
  unavailable: 503,
  corrupt: 500,
  'schema-version': 500,
  'not-storable': 400,
}

/** The body of every error. */
export function errorBody(
  code: string,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): object {
  const more = Object.keys(details).length === 0 ? {} : { details }
  return { error: { code, message, ...more } }
}

/** Every error of a route ends here: a client gets JSON, the operator a log line. */
export function toErrorResponse(
  error: unknown,
  context: Context,
  logger: Logger,
): Response | Promise<Response> {
  if (error instanceof HTTPException) return error.getResponse()
  if (error instanceof RequestError) {
    const { code, message, details, status } = error
    return context.json(errorBody(code, message, details), status)
  }
  const status = statusOf(error)
  if (status < 500 && HelixError.isInstance(error)) {
    return context.json(errorBody(error.code, error.message), status)
  }
  logger.error({ err: error, method: context.req.method, path: context.req.path }, 'request failed')
  const code = HelixError.isInstance(error) ? error.code : 'internal'
  return context.json(errorBody(code, 'the server failed; its log has the reason'), status)
}

function statusOf(error: unknown): ErrorStatus {
  if (AgentAlreadyRunningError.isInstance(error)) return 409
  if (StateStoreError.isInstance(error)) return storeStatus[error.code]
  if (!SessionError.isInstance(error)) return 500
  if (error.code === 'invalid-message' || error.code === 'invalid-answer') return 400
  // Sessions of other agents are none of this server's business.
  return error.code === 'other-agent' || error.code === 'unknown-request' ? 404 : 409
}
