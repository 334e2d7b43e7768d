import { AgentAlreadyRunningError, SessionError } from '@helix-agents/sdk'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import * as z from 'zod'
import { answersSchema, historyOf, lastAnswer, respond, streamOf } from './conversation.ts'
import type { Chat } from './open-chat.ts'
import { onlyThisMachine, onlyThisPage } from './page-checks.ts'

const MAX_BODY_BYTES = 64 * 1024
const tooLarge = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: (context) => context.text(`more than ${MAX_BODY_BYTES} bytes`, 413),
})
const idSchema = z.string().regex(/^[\w-]{1,64}$/)
/** Something new to say, or answers to calls that wait. */
const turnSchema = z.union([
  z.strictObject({ id: idSchema, text: z.string().min(1).max(10_000) }),
  z.strictObject({ id: idSchema, answers: answersSchema }),
])

/** The API of the page. A chat is a session; its id is chosen by the page. */
export function createApp(chat: Chat): Hono {
  const { agent, executor, stateStore } = chat
  const app = new Hono()
  app.use(onlyThisMachine, onlyThisPage, tooLarge)

  // The next turn. The server has the conversation, so the page sends what is new.
  app.post('/api/chat', async (context) => {
    const { success, data } = turnSchema.safeParse(await context.req.json().catch(() => undefined))
    if (!success) return context.text('wanted: { id, text } or { id, answers }', 400)
    if ('answers' in data) return respond(chat, data.id, data.answers)
    const { messageCount = 0 } = (await stateStore.loadSession(data.id)) ?? {}
    const handle = await executor.execute(agent, data.text, { sessionId: data.id })
    return streamOf(handle, { messageId: `message-${messageCount + 1}` })
  })

  // What was said before.
  app.get('/api/chat/:id', async (context) => {
    return context.json(await historyOf(chat, idOf(context)))
  })

  // A page that was reloaded in the middle of an answer reads it from its start.
  app.get('/api/chat/:id/stream', async (context) => {
    const session = await stateStore.loadSession(idOf(context))
    if (session?.status !== 'running') return context.body(null, 204)
    const handle = await executor.getHandle(agent, session.sessionId)
    if (handle === null) return context.body(null, 204)
    // Its first steps may be stored, and then the page has them under this id.
    const last = await lastAnswer(chat, session.sessionId)
    return streamOf(handle, last === undefined ? {} : { messageId: last.id })
  })

  // Ends the answer under way and what it waits for; what it has done stays.
  app.post('/api/chat/:id/stop', async (context) => {
    const session = await stateStore.loadSession(idOf(context))
    if (session?.status === 'running' || session?.status === 'waiting') {
      const handle = await executor.getHandle(agent, session.sessionId)
      await handle?.abort()
      // The page loads what is stored when it has ended.
      await handle?.result()
    }
    return context.json({})
  })

  app.onError(toErrorResponse)
  return app
}

function toErrorResponse(error: Error, context: Context): Response {
  if (AgentAlreadyRunningError.isInstance(error)) {
    return context.text('the answer before is not finished', 409)
  }
  // An answer that comes second, an edited input that the tool rejects, an unknown request.
  if (SessionError.isInstance(error)) {
    return context.text(error.message, statusOf(error))
  }
  console.error(error)
  return context.text('the server failed; its log has the reason', 500)
}

function statusOf({ code }: SessionError): 400 | 404 | 409 {
  if (code === 'unknown-request') return 404
  return code === 'invalid-answer' ? 400 : 409
}

/** An id that is none leads to no chat. */
function idOf(context: Context): string {
  const id = idSchema.safeParse(context.req.param('id'))
  return id.success ? id.data : 'none'
}
