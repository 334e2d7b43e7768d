import { toUIMessages, toUIMessageStream } from '@helix-agents/ai-sdk'
import type { AgentHandle } from '@helix-agents/sdk'
import { createUIMessageStreamResponse, type UIMessage } from 'ai'
import * as z from 'zod'
import type { Chat } from './open-chat.ts'

const requestId = z.string().min(1).max(100)
const reason = z.string().max(1000).exactOptional()
const input = z.json().exactOptional()

/** What the page decides about calls that wait. An `input` replaces the arguments of a call. */
export const answersSchema = z
  .array(
    z.union([
      z.strictObject({ requestId, decision: z.literal('approve'), reason, input }),
      z.strictObject({ requestId, decision: z.literal('deny'), reason }),
    ]),
  )
  .min(1)
  .max(100)

type Answers = z.infer<typeof answersSchema>
type StreamOptions = NonNullable<Parameters<typeof toUIMessageStream>[1]>

/** The conversation as it is stored; nothing for an unknown chat. With the calls that wait for the user. */
export async function historyOf(chat: Chat, sessionId: string): Promise<UIMessage[]> {
  const { executor, stateStore } = chat
  if ((await stateStore.loadSession(sessionId)) === null) return []
  const [{ messages }, { items: requests }, journal] = await Promise.all([
    stateStore.loadMessages(sessionId),
    executor.listRequests({ sessionId, limit: 200 }),
    stateStore.loadJournal(sessionId),
  ])
  return toUIMessages(messages, { requests, journal })
}

/** The answer of the agent that the conversation ends with. */
export async function lastAnswer(chat: Chat, sessionId: string): Promise<UIMessage | undefined> {
  const last = (await historyOf(chat, sessionId)).at(-1)
  return last?.role === 'assistant' ? last : undefined
}

/** Stores the answers, then resumes the run: the message that waited continues. */
export async function respond(chat: Chat, sessionId: string, answers: Answers): Promise<Response> {
  const { agent, executor } = chat
  const message = await lastAnswer(chat, sessionId)
  for (const [index, { requestId: id, ...answer }] of answers.entries()) {
    const resume = index === answers.length - 1
    await executor.respond(agent, sessionId, id, { ...answer, resume })
  }
  const handle = await executor.getHandle(agent, sessionId)
  if (handle === null) throw new TypeError('a session with requests has a handle')
  const { runId } = handle
  return streamOf(handle, message === undefined ? {} : { continues: { message, runId } })
}

/** A run as the stream of one message. */
export function streamOf(handle: AgentHandle, options: StreamOptions): Response {
  return createUIMessageStreamResponse({ stream: toUIMessageStream(handle.stream(), options) })
}
