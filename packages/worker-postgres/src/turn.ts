import type { FilePart, UserMessage } from '@helix-agents/core'
import {
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

/** Not that of a text that contains the escape itself. */
const NUL_IN_JSON = /(?<!\\)(?:\\\\)*\\u0000/

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

/** @throws {QueueError} `invalid-turn` */
export function checkId(name: string, value: string): string {
  if (value !== '' && isStorableId(value) && !value.includes('\0')) return value
  throw new QueueError('invalid-turn', `${name} must be a short text without NUL characters`)
}

/** The turn as JSON, with the bytes of files as base64. @throws {QueueError} `invalid-turn` */
export function turnToJson(turn: Turn): object {
  const { message, ...rest } = turn
  const files = message?.files?.map(fileToJson)
  const stored = { ...rest, ...(message && { message: { ...message, ...(files && { files }) } }) }
  if (!NUL_IN_JSON.test(JSON.stringify(stored))) return stored
  throw new QueueError('invalid-turn', 'a text of the turn contains a NUL character')
}

/** The turn of a job that {@link turnToJson} has made. */
export function turnFromJson(value: object): Turn {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes it
  const turn = value as Turn
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
