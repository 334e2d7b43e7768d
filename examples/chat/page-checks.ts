// A browser on this machine shows pages of others. None of them may use the server.
import type { MiddlewareHandler } from 'hono'
import { errorBody } from './error-body.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Rejects a host name that another site has pointed at this machine (DNS rebinding). */
export const refuseOtherHosts: MiddlewareHandler = async (context, next) => {
  const { req } = context
  const { host, hostname } = new URL(req.url)
  const named = req.header('host') ?? host
  const isOwn = URL.canParse(`http://${named}`) && LOOPBACK.has(new URL(`http://${named}`).hostname)
  if (isOwn && LOOPBACK.has(hostname)) return next()
  const body = errorBody('host-not-allowed', 'only names of this machine are answered')
  return context.json(body, 403)
}

/** Refuses what a page of another site would change. Other clients send no `Origin`. */
export const refuseForeignPages: MiddlewareHandler = async (context, next) => {
  const { req } = context
  const origin = req.header('origin')
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  if (origin === undefined || isRead) return next()
  const { host } = new URL(req.url)
  if (URL.canParse(origin) && new URL(origin).host === host) return next()
  const body = errorBody('origin-not-allowed', 'pages of other sites may not change chats')
  return context.json(body, 403)
}
