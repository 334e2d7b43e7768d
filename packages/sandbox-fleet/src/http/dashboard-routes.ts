import type { Env, Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { DASHBOARD_PAGE, DASHBOARD_SCRIPT, DASHBOARD_STYLE } from '../dashboard/assets.ts'

/** The page holds no data and needs no token: it asks for one, and the API checks it. */
export function addDashboard<E extends Env>(app: Hono<E>): void {
  const headers = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ['data:'],
      formAction: ["'none'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    xFrameOptions: 'DENY',
  })
  app.get('/', headers, (context) => {
    // Without the slash at the end, what the page asks for would be looked for beside it.
    const { pathname, search } = new URL(context.req.url)
    if (!pathname.endsWith('/')) return context.redirect(`${pathname}/${search}`, 308)
    return context.html(DASHBOARD_PAGE)
  })
  app.get('/dashboard.js', headers, (context) =>
    context.body(DASHBOARD_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  )
  app.get('/dashboard.css', headers, (context) =>
    context.body(DASHBOARD_STYLE, 200, { 'Content-Type': 'text/css; charset=utf-8' }),
  )
}
