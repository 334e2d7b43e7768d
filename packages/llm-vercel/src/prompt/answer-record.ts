import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { AssistantMessage, JsonValue } from '@helix-agents/core'

/**
 * One part of an answer, in the order in which the model gave them. Text and reasoning are slices
 * of the `content` and the `thinking` of the message: nothing is stored twice. A call is the next
 * one of its `toolCalls`.
 */
export interface RecordedPart {
  readonly kind: 'text' | 'reasoning' | 'call'
  /** Characters of a text or of reasoning. */
  readonly length: number
  /** What the provider wants back with the part, such as a signature. */
  readonly metadata?: SharedV4ProviderMetadata
}

/** What `providerMetadata` of a message of this adapter holds. */
export interface AnswerRecord {
  /** Who gave the metadata. */
  readonly provider: string
  readonly parts: readonly RecordedPart[]
}

/** The record as a message keeps it; `undefined` when the message alone says it all. */
export function writeRecord(record: AnswerRecord): JsonValue | undefined {
  const isPlain = record.parts.every(
    ({ kind, metadata }) => kind !== 'reasoning' && metadata === undefined,
  )
  if (isPlain) return undefined
  const parts = record.parts.map(({ kind, length, metadata }) => ({
    kind,
    length,
    ...(metadata !== undefined && { metadata: toJson(metadata) }),
  }))
  return { provider: record.provider, parts }
}

/** The record of a message; `undefined` when it has none, or that of another adapter. */
export function readRecord({ providerMetadata }: AssistantMessage): AnswerRecord | undefined {
  if (!isFields(providerMetadata)) return undefined
  const { provider, parts } = providerMetadata
  if (typeof provider !== 'string' || !Array.isArray(parts)) return undefined
  return parts.every(isPart) ? { provider, parts } : undefined
}

/** Metadata comes from outside: only what JSON can hold is kept. */
function toJson(metadata: SharedV4ProviderMetadata): JsonValue {
  const value: JsonValue = JSON.parse(JSON.stringify(metadata))
  return value
}

function isPart(value: unknown): value is RecordedPart {
  if (!isFields(value)) return false
  const { kind, length, metadata } = value
  const isKnown = kind === 'text' || kind === 'reasoning' || kind === 'call'
  return isKnown && typeof length === 'number' && (metadata === undefined || isFields(metadata))
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
