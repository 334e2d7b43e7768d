import { toUIMessages, toUIMessageStream } from '@helix-agents/ai-sdk'
import { type Agent, AgentAlreadyRunningError, type SessionStateStore } from '@helix-agents/core'
import type { AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'
import { createUIMessageStreamResponse } from 'ai'
import { Hono } from 'hono'
import * as z from 'zod'

export interface ChatParts {
  readonly agent: Agent
  readonly executor: JSAgentExecutor
  readonly stateStore: SessionStateStore
  /** The page and its script. */
  readonly page: { readonly html: string; readonly script: string }
}

const turnSchema = z.strictObject({
  id: z.string().regex(/^[\w-]{1,64}$/),
  text: z.string().min(1).max(10_000),
})

/** Everything but the socket, so that tests and the story need none. */
export function createChatApp(parts: ChatParts): Hono {
  const app = new Hono()
  app.get('/', (context) => context.html(parts.page.html))
  app.get('/chat.js', (context) => {
    return context.body(parts.page.script, 200, { 'content-type': 'text/javascript' })
  })

  // The next turn. The server has the conversation, so the browser sends what is new.
  app.post('/api/chat', async (context) => {
    // Pages of other sites cannot send this type unless they are allowed to.
    const isJson = context.req.header('content-type')?.startsWith('application/json') === true
    const turn = turnSchema.safeParse(await context.req.json().catch(() => undefined))
    if (!isJson || !turn.success) return context.json({ error: 'wanted: { id, text }' }, 400)
    const { id: sessionId, text } = turn.data
    const options = { sessionId, keepWorkspaces: true }
    return answer(await parts.executor.execute(parts.agent, text, options))
  })

  app.get('/api/chat/:id', async (context) => {
    const session = await parts.stateStore.loadSession(context.req.param('id'))
    if (session === null) return context.json([])
    const { messages } = await parts.stateStore.loadMessages(session.sessionId)
    return context.json(toUIMessages(messages))
  })

  // A page that was reloaded in the middle of an answer reads that again, from its start.
  app.get('/api/chat/:id/stream', async (context) => {
    const session = await parts.stateStore.loadSession(context.req.param('id'))
    if (session?.status !== 'running') return context.body(null, 204)
    const handle = await parts.executor.getHandle(parts.agent, session.sessionId)
    return handle === null ? context.body(null, 204) : answer(handle)
  })

  app.onError((error, context) => {
    if (AgentAlreadyRunningError.isInstance(error)) {
      return context.json({ error: 'the answer before is not finished' }, 409)
    }
    console.error(error)
    return context.json({ error: 'internal' }, 500)
  })
  return app
}

function answer(handle: AgentHandle): Response {
  return createUIMessageStreamResponse({ stream: toUIMessageStream(handle.stream()) })
}
