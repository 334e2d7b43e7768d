import type { SessionState } from '@helix-agents/core/runtime'
import type { AgentHandle } from '@helix-agents/runtime-js'
import type { Context, Hono } from 'hono'
import type { AppParts, RouteParts } from './app.ts'
import { RequestError } from './http-error.ts'
import {
  check,
  checkSessionId,
  messageSchema,
  pageSchema,
  readBody,
  resumeSchema,
  startSchema,
} from './request-body.ts'
import { linksOf, toMessageView, toSessionView } from './session-view.ts'

export function addSessionRoutes(app: Hono, parts: RouteParts): void {
  addStateRoutes(app, parts)
  addTurnRoutes(app, parts)
  addControlRoutes(app, parts)
}

function addStateRoutes(app: Hono, parts: AppParts): void {
  app.get('/sessions/:id', async (context) =>
    context.json(toSessionView(await findSession(parts, context.req.param('id')))),
  )

  app.get('/sessions/:id/messages', async (context) => {
    const { sessionId } = await findSession(parts, context.req.param('id'))
    const query = check(pageSchema, context.req.query())
    const page = await parts.stateStore.loadMessages(sessionId, query)
    return context.json({ ...page, messages: page.messages.map(toMessageView) })
  })
}

function addTurnRoutes(app: Hono, { agent, executor, bodies, ...parts }: RouteParts): void {
  app.post('/sessions', async (context) => {
    const body = await readBody(bodies, context.req.raw, startSchema)
    const { message, sessionId = crypto.randomUUID() } = body
    if ((await parts.stateStore.loadSession(sessionId)) !== null) {
      throw new RequestError(409, 'session-exists', 'the session exists: send it a message')
    }
    return accepted(context, await executor.execute(agent, message, { sessionId }))
  })

  app.post('/sessions/:id/messages', async (context) => {
    const { message, ...sending } = await readBody(bodies, context.req.raw, messageSchema)
    const { sessionId, status } = await findSession({ agent, ...parts }, context.req.param('id'))
    const isBusy = status === 'running' || status === 'waiting'
    if (isBusy && sending.delivery !== undefined) {
      const { messageId } = await executor.send(agent, sessionId, message, sending)
      const links = linksOf(sessionId)
      return context.json({ sessionId, messageId, links }, 202, { location: links.self })
    }
    // A turn that was not finished resumes with the message; otherwise it starts the next.
    const goesOn = status === 'interrupted' || status === 'failed'
    const handle = goesOn
      ? await executor.resume(agent, sessionId, { message })
      : await executor.execute(agent, message, { sessionId })
    return accepted(context, handle)
  })

  app.post('/sessions/:id/resume', async (context) => {
    const options = await readBody(bodies, context.req.raw, resumeSchema)
    const { sessionId } = await findSession({ agent, ...parts }, context.req.param('id'))
    const { message } = options
    const said = { ...(message !== undefined && { message }) }
    return accepted(context, await executor.resume(agent, sessionId, said))
  })
}

function addControlRoutes(app: Hono, parts: AppParts): void {
  app.post('/sessions/:id/interrupt', async (context) => {
    const { sessionId } = await findSession(parts, context.req.param('id'))
    if (parts.executor.getWorkspaceRegistry(sessionId) === undefined) {
      throw new RequestError(409, 'not-running', 'the session does not run in this process')
    }
    const handle = await handleOf(parts, sessionId)
    await handle.interrupt()
    return accepted(context, handle)
  })

  app.post('/sessions/:id/abort', async (context) => {
    const handle = await handleOf(parts, context.req.param('id'))
    await handle.abort()
    return accepted(context, handle)
  })
}

/** @throws {RequestError} 400; 404 for an unknown session and for one of another agent. */
export async function findSession(
  { stateStore, agent }: Pick<AppParts, 'stateStore' | 'agent'>,
  sessionId: string,
): Promise<SessionState> {
  const session = await stateStore.loadSession(checkSessionId(sessionId))
  if (session !== null && session.agentType === agent.name) return session
  throw unknownSession()
}

/** @throws {RequestError} 400; 404 for an unknown session. */
export async function handleOf(
  { executor, agent }: Pick<AppParts, 'executor' | 'agent'>,
  sessionId: string,
): Promise<AgentHandle> {
  const handle = await executor.getHandle(agent, checkSessionId(sessionId))
  if (handle === null) throw unknownSession()
  return handle
}

function unknownSession(): RequestError {
  return new RequestError(404, 'not-found', 'there is no such session')
}

function accepted(context: Context, { sessionId, runId }: AgentHandle): Response {
  const links = linksOf(sessionId)
  return context.json({ sessionId, runId, links }, 202, { location: links.self })
}
