import type { Message } from './messages.ts'
import { isRecord } from '../tools/json-schema.ts'
import { type ContentProblem, ContentMeter, isStorableId } from './content-limits.ts'

type Fields = Readonly<Record<string, unknown>>

/** Whether a value has the shape of a message, with bytes as bytes. Its size is not checked. */
export function isMessage(value: unknown): value is Message {
  if (!isRecord(value)) return false
  if (value['role'] === 'tool') return isToolResult(value)
  if (typeof value['content'] !== 'string') return false
  if (value['role'] === 'assistant') {
    return isOptional(value['thinking'], isString) && isListOf(value['toolCalls'], isToolCall)
  }
  return (
    value['role'] === 'user' &&
    isListOf(value['files'], isFile) &&
    isOptional(value['metadata'], isRecord)
  )
}

/** Why a message is over the limits of `contentLimits`; `undefined` when it is not. */
export function sizeProblem(message: Message): ContentProblem | 'id' | undefined {
  const meter = new ContentMeter()
  if (message.role === 'user') return userProblem(message, meter)
  if (message.role === 'assistant') return assistantProblem(message, meter)
  const { toolCallId, toolName, content } = message
  if (!isStorableId(toolCallId) || !isStorableId(toolName)) return 'id'
  if (typeof content === 'string') return meter.text(content)
  return firstProblem(content, (part) =>
    part.type === 'text' ? meter.text(part.text) : meter.bytes(part.data.byteLength),
  )
}

function userProblem(
  { content, files = [], metadata }: Extract<Message, { role: 'user' }>,
  meter: ContentMeter,
): ContentProblem | undefined {
  return (
    meter.text(content) ??
    (metadata === undefined ? undefined : meter.value(metadata)) ??
    firstProblem(files, ({ data }) =>
      meter.bytes(typeof data === 'string' ? data.length : data.byteLength),
    )
  )
}

function assistantProblem(
  message: Extract<Message, { role: 'assistant' }>,
  meter: ContentMeter,
): ContentProblem | 'id' | undefined {
  const { content, thinking = '', toolCalls = [], providerMetadata } = message
  if (!toolCalls.every(({ id, name }) => isStorableId(id) && isStorableId(name))) return 'id'
  return (
    meter.text(content) ??
    meter.text(thinking) ??
    (providerMetadata === undefined ? undefined : meter.value(providerMetadata)) ??
    firstProblem(toolCalls, (call) => meter.value(call.arguments))
  )
}

function firstProblem<T>(
  items: readonly T[],
  problemOf: (item: T) => ContentProblem | undefined,
): ContentProblem | undefined {
  for (const item of items) {
    const problem = problemOf(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isToolResult(fields: Fields): boolean {
  const { content } = fields
  return (
    typeof fields['toolCallId'] === 'string' &&
    typeof fields['toolName'] === 'string' &&
    isOptional(fields['isError'], (value) => typeof value === 'boolean') &&
    isModelOutput(content)
  )
}

/** Whether a value is what a tool may give to the model. */
export function isModelOutput(content: unknown): boolean {
  return typeof content === 'string' || (content !== undefined && isListOf(content, isPart))
}

function isToolCall(call: Fields): boolean {
  return typeof call['id'] === 'string' && typeof call['name'] === 'string'
}

function isFile(file: Fields): boolean {
  const { data } = file
  return (
    (typeof data === 'string' || data instanceof Uint8Array) &&
    typeof file['mediaType'] === 'string' &&
    isOptional(file['filename'], isString)
  )
}

function isPart(part: Fields): boolean {
  if (part['type'] === 'text') return typeof part['text'] === 'string'
  return (
    part['type'] === 'media' &&
    part['data'] instanceof Uint8Array &&
    typeof part['mediaType'] === 'string'
  )
}

function isString(value: unknown): boolean {
  return typeof value === 'string'
}

function isOptional(value: unknown, check: (value: unknown) => boolean): boolean {
  return value === undefined || check(value)
}

function isListOf(value: unknown, check: (item: Fields) => boolean): boolean {
  if (value === undefined) return true
  return Array.isArray(value) && value.every((item) => isRecord(item) && check(item))
}
