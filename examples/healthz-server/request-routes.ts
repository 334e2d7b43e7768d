import type { SessionRequest } from '@helix-agents/core/runtime'
import type { Hono } from 'hono'
import type { RouteParts } from './app.ts'
import { RequestError } from './http-error.ts'
import { answerSchema, check, readBody, requestsSchema } from './request-body.ts'
import { findSession } from './session-routes.ts'
import { linksOf } from './session-view.ts'

/** Calls of a session that wait for a person, and the answers to them. */
export function addRequestRoutes(app: Hono, parts: RouteParts): void {
  const { agent, executor, stateStore, bodies } = parts

  app.get('/sessions/:id/requests', async (context) => {
    const { sessionId } = await findSession(parts, context.req.param('id'))
    const query = check(requestsSchema, context.req.query())
    const page = await executor.listRequests({ ...query, sessionId })
    return context.json({ ...page, items: page.items.map(toRequestView) })
  })

  app.get('/sessions/:id/requests/:requestId', async (context) => {
    const { sessionId } = await findSession(parts, context.req.param('id'))
    const request = await stateStore.getRequest(sessionId, context.req.param('requestId'))
    if (request === undefined) throw new RequestError(404, 'not-found', 'there is no such request')
    return context.json(toRequestView(request))
  })

  app.post('/sessions/:id/requests/:requestId', async (context) => {
    const answer = await readBody(bodies, context.req.raw, answerSchema)
    const { sessionId } = await findSession(parts, context.req.param('id'))
    const requestId = context.req.param('requestId')
    const { request, handle } = await executor.respond(agent, sessionId, requestId, answer)
    const links = linksOf(sessionId)
    const run = { ...(handle?.runId !== undefined && { runId: handle.runId }) }
    const body = { sessionId, ...run, request: toRequestView(request), links }
    return context.json(body, 202, { location: links.self })
  })
}

/** Without what only the store needs to know. */
function toRequestView({ subject: _subject, ...request }: SessionRequest): object {
  const { basis: _basis, ...preview } = request.preview
  return { ...request, preview }
}
