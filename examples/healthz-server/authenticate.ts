import type { MiddlewareHandler } from 'hono'
import { bearerAuth } from 'hono/bearer-auth'
import { errorBody } from './http-error.ts'

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
  return Response.json(errorBody('unauthorized', 'a bearer token is required'), { status: 401 })
}
