import type { Connection } from 'partyserver'
import * as z from 'zod'
import { check, parseJson } from '../http/request-body.ts'
import { DEFAULT_MAX_BODY_BYTES } from '../http/respond.ts'
import { RequestError, toRefusal } from '../http/http-error.ts'
import type { AgentHost } from '../server/agent-host.ts'
import { openAccess } from '../server/session-access.ts'
import { abort, interrupt, resume, say, type Turn } from '../server/turns.ts'
import { stateOf } from './socket-state.ts'

const id = z.string().max(100).optional()
const message = z.string().min(1)

const schema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('message'), message, id }),
  z.strictObject({ type: z.literal('resume'), message: message.optional(), id }),
  z.strictObject({ type: z.literal('interrupt'), id }),
  z.strictObject({ type: z.literal('abort'), id }),
])

type Sent = z.infer<typeof schema>

/** Does what a client says over its WebSocket, and answers it. Never rejects. */
export async function receive<Env>(
  host: AgentHost<Env>,
  socket: Connection,
  data: unknown,
): Promise<void> {
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = host.options
  let sent: Sent | undefined
  try {
    sent = read(data, maxBodyBytes)
    const { agent, caller } = stateOf(socket)
    const access = await openAccess(host, { caller, ...(agent === undefined ? {} : { agent }) })
    const { sessionId, runId } = await turnOf<Env>(sent)(access)
    answer(socket, sent, { type: 'accepted', sessionId, runId })
  } catch (error) {
    const { body } = toRefusal(error, host.logger, { message: sent?.type })
    answer(socket, sent, { type: 'refused', ...body })
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

function turnOf<Env>(sent: Sent): Turn<Env> {
  if (sent.type === 'message') return say(sent.message)
  if (sent.type === 'resume') return resume(sent.message)
  return sent.type === 'interrupt' ? interrupt : abort
}

function answer(socket: Connection, sent: Sent | undefined, body: object): void {
  const reply = sent?.id === undefined ? {} : { id: sent.id }
  socket.send(JSON.stringify({ ...body, ...reply }))
}
