// There is no login: a browser on this machine must not let pages of other sites use the server.
import type { MiddlewareHandler } from 'hono'

const OWN_NAMES = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Rejects names that another site has pointed at this machine (DNS rebinding). */
export const onlyThisMachine: MiddlewareHandler = async (context, next) => {
  const host = context.req.header('host') ?? new URL(context.req.url).host
  const url = URL.parse(`http://${host}`)
  if (url !== null && OWN_NAMES.has(url.hostname)) return next()
  return context.text('only names of this machine are answered', 403)
}

/** Rejects what another page sends: its origin differs, or it cannot send JSON. */
export const onlyThisPage: MiddlewareHandler = async (context, next) => {
  const { req } = context
  if (req.method === 'GET' || req.method === 'HEAD') return next()
  const origin = req.header('origin')
  const isOwn = origin === undefined || URL.parse(origin)?.host === req.header('host')
  const isJson = /^application\/json\s*(?:;|$)/i.test(req.header('content-type') ?? '')
  return isOwn && isJson ? next() : context.text('pages of other sites may not do this', 403)
}
