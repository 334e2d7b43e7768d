import { toUIMessages, toUIMessageStream } from '@helix-agents/ai-sdk'
import { type AgentHandle, AgentAlreadyRunningError } from '@helix-agents/sdk'
import { createUIMessageStreamResponse } from 'ai'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import * as z from 'zod'
import type { Chat } from './open-chat.ts'
import { onlyThisMachine, onlyThisPage } from './page-checks.ts'

const MAX_BODY_BYTES = 64 * 1024
const tooLarge = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: (context) => context.text(`more than ${MAX_BODY_BYTES} bytes`, 413),
})
const idSchema = z.string().regex(/^[\w-]{1,64}$/)
const turnSchema = z.strictObject({ id: idSchema, text: z.string().min(1).max(10_000) })

/** The API of the page. A chat is a session; its id is chosen by the page. */
export function createApp({ agent, executor, stateStore }: Chat): Hono {
  const app = new Hono()
  app.use(onlyThisMachine, onlyThisPage, tooLarge)

  // The next turn. The server has the conversation, so the page sends what is new.
  app.post('/api/chat', async (context) => {
    const turn = turnSchema.safeParse(await context.req.json().catch(() => undefined))
    if (!turn.success) return context.text('wanted: { id, text }', 400)
    const { id: sessionId, text } = turn.data
    const { messageCount = 0 } = (await stateStore.loadSession(sessionId)) ?? {}
    const handle = await executor.execute(agent, text, { sessionId })
    return answer(handle, `message-${messageCount + 1}`)
  })

  const historyOf = async (sessionId: string) =>
    toUIMessages((await stateStore.loadMessages(sessionId)).messages)

  // What was said before.
  app.get('/api/chat/:id', async (context) => {
    const session = await stateStore.loadSession(idOf(context))
    return context.json(session === null ? [] : await historyOf(session.sessionId))
  })

  // A page that was reloaded in the middle of an answer reads it from its start.
  app.get('/api/chat/:id/stream', async (context) => {
    const session = await stateStore.loadSession(idOf(context))
    if (session?.status !== 'running') return context.body(null, 204)
    const handle = await executor.getHandle(agent, session.sessionId)
    if (handle === null) return context.body(null, 204)
    // Its first steps may be stored, and then the page has them under this id.
    const last = (await historyOf(session.sessionId)).at(-1)
    return answer(handle, last?.role === 'assistant' ? last.id : undefined)
  })

  // Ends the answer under way; what it has done stays.
  app.post('/api/chat/:id/stop', async (context) => {
    const session = await stateStore.loadSession(idOf(context))
    if (session?.status === 'running') {
      await (await executor.getHandle(agent, session.sessionId))?.abort()
    }
    return context.json({})
  })

  app.onError((error, context) => {
    if (AgentAlreadyRunningError.isInstance(error)) {
      return context.text('the answer before is not finished', 409)
    }
    console.error(error)
    return context.text('the server failed; its log has the reason', 500)
  })
  return app
}

/** @param messageId of the answer in the history. Default: the id of the run. */
function answer(handle: AgentHandle, messageId?: string): Response {
  const options = messageId === undefined ? {} : { messageId }
  return createUIMessageStreamResponse({ stream: toUIMessageStream(handle.stream(), options) })
}

/** An id that is none leads to no chat. */
function idOf(context: Context): string {
  const id = idSchema.safeParse(context.req.param('id'))
  return id.success ? id.data : 'none'
}
