import { toUIMessages, toUIMessageStream } from '@helix-agents/ai-sdk'
import { type Agent, AgentAlreadyRunningError } from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import type { AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'
import { createUIMessageStreamResponse, type UIMessage } from 'ai'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import * as z from 'zod'
import { errorBody } from './error-body.ts'
import { refuseForeignPages, refuseOtherHosts } from './page-checks.ts'

export interface ChatParts {
  readonly agent: Agent
  readonly executor: JSAgentExecutor
  readonly stateStore: SessionStateStore
  /** The page with its script and its style. */
  readonly page: { readonly html: string; readonly script: string; readonly style: string }
}

/** A turn of 10 000 characters, each of up to six bytes as JSON. */
const MAX_BODY_BYTES = 64 * 1024
const idSchema = z.string().regex(/^[\w-]{1,64}$/)
const turnSchema = z.strictObject({
  id: idSchema,
  text: z.string().min(1).max(10_000),
})

/** Everything but the socket, so that tests and the story need none. */
export function createChatApp(parts: ChatParts): Hono {
  const app = new Hono()
  // There is no login: what reaches the server is let in, and pages of others must not reach it.
  app.use(refuseOtherHosts, refuseForeignPages)
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: refuseBody }))
  addPage(app, parts)
  addTurns(app, parts)
  addHistory(app, parts)
  app.notFound((context) => context.json(errorBody('not-found', 'no such route'), 404))
  app.onError(toErrorResponse)
  return app
}

function addPage(app: Hono, { page }: ChatParts): void {
  app.get('/', (context) => context.html(page.html))
  app.get('/chat.js', (context) => {
    return context.body(page.script, 200, { 'content-type': 'text/javascript' })
  })
  app.get('/chat.css', (context) => {
    return context.body(page.style, 200, { 'content-type': 'text/css' })
  })
}

function addTurns(app: Hono, parts: ChatParts): void {
  // The next turn. The server has the conversation, so the browser sends what is new.
  app.post('/api/chat', async (context) => {
    // Pages of other sites cannot send this type unless they are allowed to.
    const isJson = /^application\/json\s*(?:;|$)/i.test(context.req.header('content-type') ?? '')
    const sentence = 'the body must be sent with content-type: application/json'
    if (!isJson) return context.json(errorBody('unsupported-media-type', sentence), 415)
    const turn = turnSchema.safeParse(await context.req.json().catch(() => undefined))
    if (!turn.success) {
      return context.json(errorBody('invalid-request', 'wanted: { id, text }'), 400)
    }
    const { id: sessionId, text } = turn.data
    const { messageCount = 0 } = (await parts.stateStore.loadSession(sessionId)) ?? {}
    const handle = await parts.executor.execute(parts.agent, text, { sessionId })
    return answer(handle, `message-${messageCount + 1}`)
  })

  // What is under way ends at once; what it has done stays.
  app.post('/api/chat/:id/stop', refuseBadId, async (context) => {
    const sessionId = context.req.param('id')
    const session = await parts.stateStore.loadSession(sessionId)
    if (session?.status === 'running') {
      const handle = await parts.executor.getHandle(parts.agent, sessionId)
      await handle?.abort()
    }
    return context.json({})
  })
}

function addHistory(app: Hono, parts: ChatParts): void {
  app.use('/api/chat/:id/*', refuseBadId)
  app.get('/api/chat/:id', async (context) => {
    const session = await parts.stateStore.loadSession(context.req.param('id'))
    if (session === null) return context.json({ status: 'idle', messages: [] })
    const { status, sessionId } = session
    return context.json({ status, messages: await messagesOf(parts, sessionId) })
  })

  // A page that was reloaded in the middle of an answer reads that again, from its start.
  app.get('/api/chat/:id/stream', async (context) => {
    const session = await parts.stateStore.loadSession(context.req.param('id'))
    if (session?.status !== 'running') return context.body(null, 204)
    const handle = await parts.executor.getHandle(parts.agent, session.sessionId)
    if (handle === null) return context.body(null, 204)
    // Its first steps may be stored, and then the page has them under this id.
    const last = (await messagesOf(parts, session.sessionId)).at(-1)
    return answer(handle, last?.role === 'assistant' ? last.id : undefined)
  })
}

async function messagesOf({ stateStore }: ChatParts, sessionId: string): Promise<UIMessage[]> {
  return toUIMessages((await stateStore.loadMessages(sessionId)).messages)
}

const refuseBadId: MiddlewareHandler = async (context, next) => {
  if (idSchema.safeParse(context.req.param('id')).success) return next()
  const sentence = 'an id is 1 to 64 letters, digits, "-" or "_"'
  return context.json(errorBody('invalid-session-id', sentence), 400)
}

function refuseBody(context: Context): Response {
  const sentence = `the body is larger than ${MAX_BODY_BYTES} bytes`
  return context.json(errorBody('too-large', sentence), 413)
}

function toErrorResponse(error: Error, context: Context): Response {
  if (AgentAlreadyRunningError.isInstance(error)) {
    return context.json(errorBody(error.code, 'the answer before is not finished'), 409)
  }
  console.error(error)
  return context.json(errorBody('internal', 'the server failed; its log has the reason'), 500)
}

/** @param messageId of the message in the stored conversation. Default: the id of the run. */
function answer(handle: AgentHandle, messageId?: string): Response {
  const options = messageId === undefined ? {} : { messageId }
  return createUIMessageStreamResponse({ stream: toUIMessageStream(handle.stream(), options) })
}
