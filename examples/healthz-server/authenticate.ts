import type { MiddlewareHandler } from 'hono'
import { bearerAuth } from 'hono/bearer-auth'

const PROBE = '/healthz'

/** Asks for the token, compared in constant time. A probe of the process needs none. */
export function authenticate(token: string): MiddlewareHandler {
  const ask = bearerAuth({
    token,
    noAuthenticationHeader: { message: refuse },
    invalidAuthenticationHeader: { message: refuse },
    invalidToken: { message: refuse },
  })
  return (context, next) => (context.req.path === PROBE ? next() : ask(context, next))
}

function refuse(): Response {
  const body = { error: 'a bearer token is required', code: 'unauthorized' }
  return Response.json(body, { status: 401 })
}
