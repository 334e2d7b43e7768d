import { requestIdOf } from '../route/session-action.ts'
import { known, openAccess } from '../server/session-access.ts'
import { answer } from '../server/turns.ts'
import { notFound } from './http-error.ts'
import { answerSchema, check, readBody, requestsSchema } from './request-body.ts'
import type { SessionRequest } from './session-request.ts'
import { linksOf, toRequestView } from './session-view.ts'

/** The requests to people of a session and its sub-agents, the oldest first. */
export async function getRequests<Env>({ access, url }: SessionRequest<Env>): Promise<Response> {
  const { sessionId } = known(access)
  const { stateStore, clock } = access.host
  const { state, limit, cursor } = check(requestsSchema, Object.fromEntries(url.searchParams))
  const page = await stateStore.listRequests({
    sessionId,
    now: clock.now(),
    limit,
    ...(state !== undefined && { state }),
    ...(cursor !== undefined && { cursor }),
  })
  return Response.json({ ...page, items: page.items.map(toRequestView) })
}

export async function getRequest<Env>({ access, url }: SessionRequest<Env>): Promise<Response> {
  const { sessionId } = known(access)
  const { stateStore } = access.host
  const request = await stateStore.getRequest(sessionId, requestIdOf(url.pathname))
  if (request === undefined) throw notFound('request')
  return Response.json(toRequestView(request))
}

/** Stores an answer, and resumes the session that waits for it. */
export async function postAnswer<Env>(sent: SessionRequest<Env>): Promise<Response> {
  const given = await readBody(sent.request, answerSchema, sent.bodyLimits)
  // The session may have changed while the body came.
  const access = await openAccess(sent.access.host, sent.asked)
  const { request, handle } = await answer<Env>(requestIdOf(sent.url.pathname), given)(access)
  const links = linksOf(sent.base)
  const body = {
    sessionId: request.sessionId,
    ...(handle?.runId !== undefined && { runId: handle.runId }),
    request: toRequestView(request),
    links,
  }
  return Response.json(body, { status: 202, headers: { location: links.self } })
}
