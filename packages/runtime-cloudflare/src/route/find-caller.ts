import { RequestError } from '../http/http-error.ts'
import type { Authenticate, RequestedSession } from './authenticate.ts'
import { type Caller, isCaller } from './caller.ts'

/** @throws {RequestError} 401; 500 when nobody said how to authenticate. */
export async function findCaller<Env>(
  request: Request,
  authenticate: Authenticate<Env>,
  target: RequestedSession<Env>,
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
