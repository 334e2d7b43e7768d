import { toUIMessages, toUIMessageStream } from '@helix-agents/ai-sdk'
import type { SessionRequest } from '@helix-agents/core/runtime'
import type { AgentHandle, RequestResponse } from '@helix-agents/runtime-js'
import { createUIMessageStreamResponse, type UIMessage } from 'ai'
import type { Hono } from 'hono'
import type { ChatParts } from './app.ts'
import { answersSchema, readJson, refuseBadId, steerSchema, turnSchema } from './request-checks.ts'

type Answers = ReturnType<typeof answersSchema.parse>['answers']

/** What a chat is sent: turns, answers, and words and signals to an agent at work. */
export function addTurns(app: Hono, parts: ChatParts): void {
  // The server has the conversation, so the browser sends what is new.
  app.post('/api/chat', async (context) => {
    const { id: sessionId, ...turn } = await readJson(context, turnSchema)
    if ('answers' in turn) return answerRequests(parts, sessionId, turn.answers)
    const { messageCount = 0 } = (await parts.stateStore.loadSession(sessionId)) ?? {}
    const handle = await parts.executor.execute(parts.agent, turn.text, { sessionId })
    return toStream(handle, { messageId: `message-${messageCount + 1}` })
  })

  // Answers without the stream of what they lead to.
  app.post('/api/chat/:id/answers', refuseBadId, async (context) => {
    const { answers } = await readJson(context, answersSchema)
    await respond(parts, context.req.param('id'), answers)
    return context.json({})
  })

  app.post('/api/chat/:id/steer', refuseBadId, async (context) => {
    const { text } = await readJson(context, steerSchema)
    const delivery = 'steer'
    await parts.executor.send(parts.agent, context.req.param('id'), text, { delivery })
    return context.json({})
  })

  // What is under way ends at once; what it has done stays.
  app.post('/api/chat/:id/stop', refuseBadId, async (context) => {
    const sessionId = context.req.param('id')
    const { status } = (await parts.stateStore.loadSession(sessionId)) ?? {}
    if (status === 'running' || status === 'waiting') {
      const handle = await parts.executor.getHandle(parts.agent, sessionId)
      await handle?.abort()
      // The page loads what is stored when it has ended.
      await handle?.result()
    }
    return context.json({})
  })
}

/** What was said before, and the answer under way. */
export function addHistory(app: Hono, parts: ChatParts): void {
  app.get('/api/chat/:id', refuseBadId, async (context) => {
    const session = await parts.stateStore.loadSession(context.req.param('id'))
    if (session === null) return context.json({ status: 'idle', messages: [], queued: [] })
    const { status, sessionId } = session
    const messages = await messagesOf(parts, sessionId)
    const queued = await parts.stateStore.listQueuedMessages(sessionId)
    return context.json({ status, messages, queued: queued.map(({ message }) => message.content) })
  })

  // A page that was reloaded in the middle of an answer reads that again, from its start.
  app.get('/api/chat/:id/stream', refuseBadId, async (context) => {
    const session = await parts.stateStore.loadSession(context.req.param('id'))
    if (session?.status !== 'running') return context.body(null, 204)
    const handle = await parts.executor.getHandle(parts.agent, session.sessionId)
    if (handle === null) return context.body(null, 204)
    // Its first steps may be stored, and then the page has them under this id.
    const last = await lastAnswer(parts, session.sessionId)
    return toStream(handle, last === undefined ? {} : { messageId: last.id })
  })
}

/** The message that waits goes on. */
async function answerRequests(
  parts: ChatParts,
  sessionId: string,
  answers: Answers,
): Promise<Response> {
  const message = await lastAnswer(parts, sessionId)
  await respond(parts, sessionId, answers)
  const handle = await parts.executor.getHandle(parts.agent, sessionId)
  if (handle === null) throw new TypeError('a session with requests has a handle')
  const { runId } = handle
  return toStream(handle, message === undefined ? {} : { continues: { message, runId } })
}

/** All are stored before the session resumes. */
async function respond(parts: ChatParts, sessionId: string, answers: Answers): Promise<void> {
  for (const [index, { requestId, ...answer }] of answers.entries()) {
    const resume = index === answers.length - 1
    const response: RequestResponse = { ...answer, resume }
    await parts.executor.respond(parts.agent, sessionId, requestId, response)
  }
}

async function messagesOf(parts: ChatParts, sessionId: string): Promise<UIMessage[]> {
  const { stateStore, executor } = parts
  const { messages } = await stateStore.loadMessages(sessionId)
  const requests: SessionRequest[] = []
  let cursor: string | undefined
  do {
    const page = await executor.listRequests({ sessionId, ...(cursor !== undefined && { cursor }) })
    requests.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return toUIMessages(messages, { requests, journal: await stateStore.loadJournal(sessionId) })
}

async function lastAnswer(parts: ChatParts, sessionId: string): Promise<UIMessage | undefined> {
  const last = (await messagesOf(parts, sessionId)).at(-1)
  return last?.role === 'assistant' ? last : undefined
}

function toStream(handle: AgentHandle, options: Parameters<typeof toUIMessageStream>[1]): Response {
  return createUIMessageStreamResponse({ stream: toUIMessageStream(handle.stream(), options) })
}
