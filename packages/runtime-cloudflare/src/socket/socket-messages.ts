import type { Connection } from 'partyserver'
import * as z from 'zod'
import { answerSchema, check, messageSchema, parseJson } from '../http/request-body.ts'
import { DEFAULT_MAX_BODY_BYTES } from '../http/respond.ts'
import { RequestError, toRefusal } from '../http/http-error.ts'
import type { AgentHost } from '../server/agent-host.ts'
import { assertMayWrite, openAccess } from '../server/session-access.ts'
import {
  abort,
  answer as answerRequest,
  interrupt,
  queue,
  resume,
  sendMessage,
  type Turn,
} from '../server/turns.ts'
import { isReading, noteAnswer, send } from './socket-flow.ts'
import { stateOf } from './socket-state.ts'

const id = z.string().max(100).optional()
const message = z.string().min(1)

const schema = z.discriminatedUnion('type', [
  messageSchema.extend({ type: z.literal('message'), id }),
  z.strictObject({ type: z.literal('resume'), message: message.optional(), id }),
  z.strictObject({ type: z.literal('interrupt'), id }),
  z.strictObject({ type: z.literal('abort'), id }),
  z.strictObject({
    type: z.literal('respond'),
    requestId: z.string().min(1).max(200),
    answer: answerSchema,
    id,
  }),
  // What it was asked, as it came.
  z.strictObject({ type: z.literal('ack'), id: z.string().max(100) }),
])

type Sent = z.infer<typeof schema>
type Command = Exclude<Sent, { readonly type: 'ack' }>

/** Close code for one who sends and does not read: policy violation. */
const NOT_READING = 1008

/**
 * Does what a client says over its WebSocket, and answers it. Never rejects.
 * @returns whether it has read what was sent, and can be sent more
 */
export async function receive<Env>(
  host: AgentHost<Env>,
  socket: Connection,
  data: unknown,
): Promise<boolean> {
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = host.options
  let sent: Sent | undefined
  try {
    sent = read(data, maxBodyBytes)
    if (sent.type === 'ack') return noteAnswer(socket, sent.id)
    if (isReading(socket)) {
      answer(host, socket, { sent, body: await obey(host, socket, sent) })
    }
  } catch (error) {
    const { body } = toRefusal(error, host.logger, { message: sent?.type })
    if (isReading(socket)) {
      answer(host, socket, { sent, body: { type: 'refused', ...body } })
    }
  }
  if (!isReading(socket)) socket.close(NOT_READING, 'answers are not read')
  return false
}

async function obey<Env>(host: AgentHost<Env>, socket: Connection, sent: Command): Promise<object> {
  await host.ready()
  const { agent, caller } = stateOf(socket)
  assertMayWrite(caller, { action: sent.type, isWrite: true })
  const leave = host.places.commands.take(caller)
  try {
    const access = await openAccess(host, { caller, ...(agent !== undefined && { agent }) })
    if (sent.type === 'respond') {
      const answered = await answerRequest<Env>(sent.requestId, sent.answer)(access)
      const { request, handle } = answered
      return { type: 'accepted', sessionId: request.sessionId, runId: handle?.runId }
    }
    const queued =
      sent.type === 'message' ? await queue<Env>(sent.message, sent)(access) : undefined
    if (queued !== undefined) {
      return { type: 'accepted', sessionId: host.sessionId, messageId: queued.messageId }
    }
    const { sessionId, runId } = await turnOf<Env>(sent)(access)
    return { type: 'accepted', sessionId, runId }
  } finally {
    leave()
  }
}

/** @throws {RequestError} */
function read(data: unknown, maxBytes: number): Sent {
  if (typeof data !== 'string') {
    throw new RequestError(400, 'invalid-json', 'a message is a text')
  }
  // A unit of a string is at least one byte.
  if (data.length > maxBytes) {
    throw new RequestError(413, 'too-large', `the message is larger than ${maxBytes} bytes`)
  }
  return check(schema, parseJson(data))
}

function turnOf<Env>(sent: Exclude<Command, { readonly type: 'respond' }>): Turn<Env> {
  if (sent.type === 'message') return sendMessage(sent.message)
  if (sent.type === 'resume') return resume(sent.message)
  return sent.type === 'interrupt' ? interrupt : abort
}

function answer<Env>(
  host: AgentHost<Env>,
  socket: Connection,
  { sent, body }: { readonly sent: Sent | undefined; readonly body: object },
): void {
  // It may have left, or been closed, while that was done.
  if (socket.readyState !== WebSocket.OPEN) return
  const reply = sent?.id === undefined ? {} : { id: sent.id }
  send(socket, JSON.stringify({ ...body, ...reply }), () => host.ctx.getWebSockets().length)
}
