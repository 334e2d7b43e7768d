import { type Clock, type Logger, noopLogger, systemClock } from '@helix-agents/core'
import { withDeadline } from '@helix-agents/core/provider'
import { RequestError } from '../http/http-error.ts'
import type { Authenticate, RequestedSession } from './authenticate.ts'
import { type Caller, isCaller } from './caller.ts'

const DEFAULT_TIMEOUT_MS = 10_000

export interface FindCallerOptions<Env> {
  readonly authenticate: Authenticate<Env>
  readonly authenticateTimeoutMs?: number
  readonly logger?: Logger
  readonly clock?: Clock
}

/**
 * Asks the application who sends a request. What goes wrong there is told to the operator only.
 * @throws {RequestError} 401; 503 when it does not answer in time; 500 when it fails, or nobody
 * said how to authenticate; and what the application throws of this class.
 */
export async function findCaller<Env>(
  request: Request,
  target: Omit<RequestedSession<Env>, 'signal'>,
  options: FindCallerOptions<Env>,
): Promise<Caller | Response> {
  const { logger = noopLogger } = options
  const { agent, sessionId, action } = target
  const fields = { agent, sessionId, action }
  try {
    assertAsked(options)
    const answer = await ask(request, target, options)
    return toCaller(answer)
  } catch (err) {
    if (err instanceof RequestError) {
      if (err.status >= 500) logger.error({ ...fields, code: err.code }, err.message)
      throw err
    }
    logger.error({ ...fields, err }, 'authenticate failed')
    const message = 'the server failed; its log has the reason'
    throw new RequestError(500, 'authentication-failed', message)
  }
}

function assertAsked<Env>({ authenticate }: FindCallerOptions<Env>): void {
  if (typeof authenticate === 'function') return
  const message =
    'routeAgentRequest needs the option authenticate: a function that returns who sends the' +
    ' request, or null. To let everybody in, pass insecureAllowAnyone.'
  throw new RequestError(500, 'authentication-missing', message)
}

/** The hook itself keeps running when its time is out: the signal asks it to stop. */
async function ask<Env>(
  request: Request,
  target: Omit<RequestedSession<Env>, 'signal'>,
  options: FindCallerOptions<Env>,
): Promise<unknown> {
  const { authenticate, clock = systemClock } = options
  const { authenticateTimeoutMs: timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const late = new AbortController()
  const onTimeout = (): Error => {
    const error = tooLate()
    late.abort(error)
    return error
  }
  const asked = (async () => authenticate(request, { ...target, signal: late.signal }))()
  return withDeadline(asked, { clock, timeoutMs, onTimeout })
}

function toCaller(answer: unknown): Caller | Response {
  if (answer instanceof Response || isCaller(answer)) return answer
  // A misspelt field must not turn an owner into an anonymous caller.
  if (typeof answer === 'object' && answer !== null) {
    const message = 'authenticate has returned something that is no caller'
    throw new RequestError(500, 'caller-invalid', message)
  }
  throw new RequestError(401, 'unauthorized', 'the request is not authenticated', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

function tooLate(): RequestError {
  const message = 'the authentication did not answer in time: try again'
  return new RequestError(503, 'authentication-timeout', message, {
    headers: { 'retry-after': '5' },
  })
}
