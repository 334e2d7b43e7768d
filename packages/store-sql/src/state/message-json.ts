import {
  decodeBase64,
  encodeBase64,
  type FilePart,
  type Message,
  type ModelOutputPart,
} from '@helix-agents/core'

type Fields = Readonly<Record<string, unknown>>

/** Bytes as they stand in JSON. */
interface StoredBytes {
  readonly $bytes: string
}

/** A message with its bytes as base64; they can only be in its files and in its media parts. */
export function toStorableMessage(message: Message): unknown {
  if (message.role === 'user' && message.files !== undefined) {
    return { ...message, files: message.files.map(toStorableFile) }
  }
  if (message.role === 'tool' && typeof message.content !== 'string') {
    return { ...message, content: message.content.map(toStorablePart) }
  }
  return message
}

function toStorableFile(file: FilePart): unknown {
  return typeof file.data === 'string' ? file : { ...file, data: toStorableBytes(file.data) }
}

function toStorablePart(part: ModelOutputPart): unknown {
  return part.type === 'media' ? { ...part, data: toStorableBytes(part.data) } : part
}

function toStorableBytes(bytes: Uint8Array): StoredBytes {
  return { $bytes: encodeBase64(bytes) }
}

/**
 * The message behind what `toStorableMessage` made and JSON carried; `undefined` when it is none.
 * Checked by hand: a session has thousands of them. Bytes take the place of their base64.
 */
export function fromStorableMessage(value: unknown): Message | undefined {
  if (!isFields(value)) return undefined
  if (value['role'] === 'user') reviveAll(value['files'])
  if (value['role'] === 'tool') reviveAll(value['content'])
  return isMessage(value) ? value : undefined
}

/** Gives each `data` of a list its bytes back. What has another shape is left for the check. */
function reviveAll(parts: unknown): void {
  if (!Array.isArray(parts)) return
  for (const part of parts) {
    if (!isFields(part) || !isStoredBytes(part['data'])) continue
    const bytes = tryDecode(part['data'].$bytes)
    if (bytes !== undefined) Object.assign(part, { data: bytes })
  }
}

function tryDecode(encoded: string): Uint8Array | undefined {
  try {
    return decodeBase64(encoded)
  } catch (error) {
    if (error instanceof Error || error instanceof DOMException) return undefined
    throw error
  }
}

function isMessage(fields: Fields): fields is Fields & Message {
  if (fields['role'] === 'tool') return isToolResult(fields)
  if (typeof fields['content'] !== 'string') return false
  if (fields['role'] === 'assistant') {
    return isOptional(fields['thinking'], isString) && isListOf(fields['toolCalls'], isToolCall)
  }
  return (
    fields['role'] === 'user' &&
    isListOf(fields['files'], isFile) &&
    isOptional(fields['metadata'], isFields)
  )
}

function isToolResult(fields: Fields): boolean {
  const { content } = fields
  return (
    typeof fields['toolCallId'] === 'string' &&
    typeof fields['toolName'] === 'string' &&
    isOptional(fields['isError'], (value) => typeof value === 'boolean') &&
    (typeof content === 'string' || (content !== undefined && isListOf(content, isPart)))
  )
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

function isStoredBytes(value: unknown): value is StoredBytes {
  return isFields(value) && typeof value['$bytes'] === 'string'
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isString(value: unknown): boolean {
  return typeof value === 'string'
}

function isOptional(value: unknown, check: (value: unknown) => boolean): boolean {
  return value === undefined || check(value)
}

function isListOf(value: unknown, check: (item: Fields) => boolean): boolean {
  if (value === undefined) return true
  return Array.isArray(value) && value.every((item) => isFields(item) && check(item))
}
