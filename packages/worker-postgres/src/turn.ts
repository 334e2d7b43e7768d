import { type FilePart, StateStoreError, type UserMessage } from '@helix-agents/core'
import {
  assertStorable,
  describeContentProblem,
  isMessage,
  isStorableId,
  sizeProblem,
} from '@helix-agents/core/runtime'
import type { NewSessionOptions } from '@helix-agents/runtime-js'
import { QueueError } from './queue-error.ts'

/** One turn of a session, as it waits in the queue. */
export interface Turn {
  /** Name of the agent. */
  readonly agent: string
  readonly sessionId: string
  /** Absent when what a session has left is to be resumed. */
  readonly message?: UserMessage
  /** What the session is made with, when there is none. */
  readonly create?: NewSessionOptions
}

type StoredFile = Omit<FilePart, 'data'> & { readonly data: string; readonly isBase64?: true }

/** The message of a turn, checked before it is stored. @throws {QueueError} `invalid-turn` */
export function toMessage(message: string | UserMessage): UserMessage {
  const given: unknown = typeof message === 'string' ? { role: 'user', content: message } : message
  if (!isMessage(given) || given.role !== 'user') {
    throw new QueueError('invalid-turn', 'a message must be text, or one of role user with content')
  }
  const problem = sizeProblem(given)
  if (problem === undefined || problem === 'id') return given
  throw new QueueError('invalid-turn', `the message is ${describeContentProblem(problem)}`)
}

/** Whether a column of PostgreSQL holds a value as it is: NUL and halves of surrogate pairs it does not. */
export function isColumnText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed() && !value.includes('\0')
}

/** An id that stands in a column of its own. @throws {QueueError} `invalid-turn` */
export function checkId(name: string, value: unknown): string {
  if (isColumnText(value) && isStorableId(value)) return value
  throw new QueueError(
    'invalid-turn',
    `${name} must be a short text of whole characters without NUL`,
  )
}

/**
 * What a session is made with, checked as its store would: a worker could only reject it.
 * @throws {QueueError} `invalid-turn`
 */
export function checkLabels(sessionId: string, create: NewSessionOptions): NewSessionOptions {
  const { state, ...labels } = create
  try {
    const customState = state === undefined ? {} : { customState: { value: state } }
    assertStorable({ sessionId, ...labels, ...customState })
  } catch (error) {
    if (!StateStoreError.isInstance(error)) throw error
    throw new QueueError('invalid-turn', error.message, { cause: error })
  }
  return create
}

/** A turn as a job holds it. */
interface StoredTurn {
  readonly agent: string
  readonly sessionId: string
  /** The rest as JSON in a text: `jsonb` rejects NUL and halves of surrogate pairs, which messages may have. */
  readonly body: string
}

/** The turn of a job, with the bytes of files as base64. */
export function turnToJson({ agent, sessionId, message, create }: Turn): StoredTurn {
  const files = message?.files?.map(fileToJson)
  const stored = message && { ...message, ...(files && { files }) }
  return { agent, sessionId, body: JSON.stringify({ message: stored, create }) }
}

/** The turn of a job that {@link turnToJson} has made. */
export function turnFromJson(value: object): Turn {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes it
  const { agent, sessionId, body } = value as StoredTurn
  const turn: Turn = { agent, sessionId, ...JSON.parse(body) }
  const { message } = turn
  if (message?.files === undefined) return turn
  return { ...turn, message: { ...message, files: message.files.map(fileFromJson) } }
}

function fileToJson({ data, ...file }: FilePart): StoredFile {
  if (typeof data === 'string') return { ...file, data }
  return { ...file, data: Buffer.from(data).toString('base64'), isBase64: true }
}

function fileFromJson(stored: FilePart & { readonly isBase64?: true }): FilePart {
  const { data, isBase64, ...file } = stored
  const bytes = isBase64 === true && typeof data === 'string' ? Buffer.from(data, 'base64') : data
  return { ...file, data: typeof bytes === 'string' ? bytes : new Uint8Array(bytes) }
}
