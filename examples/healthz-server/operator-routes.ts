import type { Hono } from 'hono'
import type { AppParts } from './app.ts'
import { checkSessionId } from './request-body.ts'

/** What monitoring asks. None of it waits for a run or a store. */
export function addOperatorRoutes(app: Hono, { executor, metrics, closing }: AppParts): void {
  app.get('/healthz', (context) =>
    closing.aborted
      ? context.json({ status: 'stopping' }, 503)
      : context.json({ status: 'ok', uptimeMs: Math.round(process.uptime() * 1000) }),
  )

  app.get('/healthz/:sessionId', (context) => {
    const registry = executor.getWorkspaceRegistry(checkSessionId(context.req.param('sessionId')))
    // As operators know it; every other error is `{ error: { code, message } }`.
    if (registry === undefined) return context.json({ error: 'no active session' }, 404)
    return context.json({ workspaces: registry.describe() })
  })

  app.get('/metrics', async (context) =>
    context.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )
}
