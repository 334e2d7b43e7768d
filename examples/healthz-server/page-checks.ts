// A browser on this machine shows pages of others. None of them may use the server.
import type { MiddlewareHandler } from 'hono'
import { RequestError } from './http-error.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Rejects a host name that another site has pointed at this machine (DNS rebinding). */
export const refuseOtherHosts: MiddlewareHandler = ({ req }, next) => {
  const { host, hostname } = new URL(req.url)
  const named = req.header('host') ?? host
  const isOwn = URL.canParse(`http://${named}`) && LOOPBACK.has(new URL(`http://${named}`).hostname)
  if (isOwn && LOOPBACK.has(hostname)) return next()
  throw new RequestError(403, 'host-not-allowed', 'without a token only this machine is answered')
}

/** Refuses what a page of another site would change. Other clients send no `Origin`. */
export const refuseForeignPages: MiddlewareHandler = ({ req }, next) => {
  const origin = req.header('origin')
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  if (origin === undefined || isRead) return next()
  const { host } = new URL(req.url)
  if (URL.canParse(origin) && new URL(origin).host === host) return next()
  throw new RequestError(403, 'origin-not-allowed', 'pages of other sites may not change sessions')
}
