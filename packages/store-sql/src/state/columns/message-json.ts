import type { FilePart, Message, ModelOutputPart } from '@helix-agents/core'
import { decodeBase64, encodeBase64 } from '@helix-agents/core/provider'
import { isMessage } from '@helix-agents/core/runtime'

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

function isStoredBytes(value: unknown): value is StoredBytes {
  return isFields(value) && typeof value['$bytes'] === 'string'
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
