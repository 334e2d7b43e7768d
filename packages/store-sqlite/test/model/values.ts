// Generated parts of calls, with what is hard to store: lone surrogates, NULs, odd keys, bytes.
import type { JsonValue, Message } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import fc from 'fast-check'

export const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined })

export const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('\ud800', 'a\0b', '\udc00\ud800', '"'),
)
const json: fc.Arbitrary<JsonValue> = fc
  .jsonValue({ maxDepth: 2 })
  // JSON has no negative zero.
  .map((value) => JSON.parse(JSON.stringify(value)))
export const value: fc.Arbitrary<JsonValue> = fc.oneof(
  json,
  text,
  fc.constant(JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')),
)
const bytes = fc.uint8Array({ maxLength: 20 })

/** Mostly one session, so that most calls meet what others have done. */
export const sessionId = fc.oneof(
  { weight: 12, arbitrary: fc.constant('a') },
  { weight: 2, arbitrary: fc.constantFrom('\ud800', '\ufffd') },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'x\0y', '"') },
)
export const workspace = fc.constantFrom('box', 'lab', '__proto__')
export const callId = fc.constantFrom('c1', 'c\0')
export const checkpointId = fc.constantFrom('cp1', 'cp2')
export const now = fc.integer({ min: 0, max: 60 })
/** Often after the end of a lease. */
export const later = fc.integer({ min: 0, max: 200 })

const file = fc.record({ data: fc.oneof(bytes, text), mediaType: text })
export const userMessage = fc.record(
  { role: fc.constant('user' as const), content: text, files: fc.array(file, { maxLength: 2 }) },
  { requiredKeys: ['role', 'content'] },
)
const toolCall = fc.record({ id: callId, name: text, arguments: value })
const assistantMessage = fc.record(
  {
    role: fc.constant('assistant' as const),
    content: text,
    thinking: text,
    toolCalls: fc.array(toolCall, { maxLength: 2 }),
  },
  { requiredKeys: ['role', 'content'] },
)
const part = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('media' as const), mediaType: text, data: bytes }),
)
const toolMessage = fc.record({
  role: fc.constant('tool' as const),
  toolCallId: callId,
  toolName: text,
  content: fc.oneof(text, fc.array(part, { maxLength: 2 })),
})
const message: fc.Arbitrary<Message> = fc.oneof(userMessage, assistantMessage, toolMessage)
export const messages = fc.array(message, { maxLength: 3 })

export const ref: fc.Arbitrary<WorkspaceRef> = fc.record({
  providerId: text,
  schemaVersion: fc.integer({ min: 1, max: 9 }),
  capabilities: fc.record({ fs: fc.boolean(), shell: fc.boolean() }, { requiredKeys: [] }),
  ref: value,
})
const snapshot = fc.oneof(
  fc.record({ snapshot: fc.record({ providerId: text, ref: value }) }),
  fc.record({ missing: fc.constantFrom('failed' as const, 'evicted' as const) }),
)
export const snapshots = fc.dictionary(workspace, snapshot, { maxKeys: 2 })
const ledger = fc.record({
  known: fc.dictionary(text, fc.dictionary(text, fc.record({ version: text })), { maxKeys: 2 }),
  writers: fc.dictionary(text, fc.record({ actor: text, version: text }), { maxKeys: 2 }),
})
export const change = fc.record(
  {
    customState: fc.record({ value: optional(value) }),
    fileLedgers: fc.dictionary(workspace, ledger, { maxKeys: 2 }),
  },
  { requiredKeys: [] },
)

const status = fc.constantFrom('interrupted', 'waiting', 'completed', 'failed', 'aborted')
export const ending = fc.record(
  { status, output: value, error: fc.record({ code: text, message: text }) },
  { requiredKeys: ['status'] },
)
export const journal = fc.array(
  fc.record({ toolCallId: callId, toolName: text, arguments: value, startedAt: now }),
  { maxLength: 3 },
)
export const result = fc.record(
  { message: toolMessage, finish: fc.record({ output: optional(value) }), endedAt: now },
  { requiredKeys: ['message', 'endedAt'] },
)
export const newSession = fc.record(
  {
    sessionId,
    agentType: fc.constantFrom('a1', 'a2'),
    customState: optional(value),
    now,
    userId: text,
    tags: fc.array(text, { maxLength: 2 }),
    metadata: fc.dictionary(text, value, { maxKeys: 2 }),
    parentSessionId: sessionId,
    messages,
    workspaceRefs: fc.dictionary(workspace, ref, { maxKeys: 2 }),
  },
  { requiredKeys: ['sessionId', 'agentType', 'customState', 'now'] },
)
export const page = fc.record(
  { limit: fc.constantFrom(0, 1, 2, 3), cursor: fc.constantFrom('!', '') },
  { requiredKeys: [] },
)
export const count = fc.integer({ min: -1, max: 4 })
