import type {
  PlannedPart,
  PlannedTurn,
  SeenFile,
  SeenMessage,
  SeenResult,
} from '@helix-agents/workspace-conformance/model'
import { problemOfTools } from './schema-rules.ts'
import { frame, isEnded, type Json, KEY, list, string, type WireFormat } from './wire.ts'

type Answer = Extract<PlannedTurn, { type: 'answer' }>

/** Anthropic messages. */
export const anthropicMessages: WireFormat = {
  path: '/messages',
  problemOf: (body) => problemOfTools(toolsOf(body)) ?? problemOfBody(body),
  read: (body) => ({
    system: list(body['system'])
      .map(({ text }) => string(text))
      .join('\n'),
    messages: list(body['messages']).flatMap(toSeen),
    tools: toolsOf(body).map(({ name, parameters }) => ({ name: string(name), parameters })),
    maxOutputTokens: body['max_tokens'] as number | undefined,
  }),
  write,
  writeError: (message) => event('error', { error: { type: 'overloaded_error', message } }),
  fail: (message) => failure('invalid_request_error', message),
  failures: {
    'rate-limited': [429, quoting('rate_limit_error', 'Too many requests')],
    'quota-used-up': [429, quoting('billing_error', 'Your credit is used up')],
    overloaded: [529, quoting('overloaded_error', 'Overloaded')],
    'server-error': [500, quoting('api_error', 'Internal server error')],
    unauthorized: [401, quoting('authentication_error', 'invalid x-api-key')],
    'context-length': [
      400,
      quoting('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
    ],
    'content-filtered': [
      400,
      quoting('invalid_request_error', 'Output blocked by content filtering policy'),
    ],
    'invalid-request': [400, quoting('invalid_request_error', 'model: field required')],
  },
}

function failure(type: string, message: string): Json {
  return { type: 'error', error: { type, message }, request_id: 'req_1' }
}

function quoting(type: string, message: string): Json {
  return failure(type, `${message} (${KEY})`)
}

function toolsOf(body: Json) {
  return list(body['tools']).map(({ name, description, input_schema: parameters }) => ({
    name,
    description,
    parameters,
  }))
}

/** Roles take turns, no text is empty, and every tool use has its result in the next message. */
function problemOfBody(body: Json): string | undefined {
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required'
  if (JSON.stringify(body).split('"cache_control"').length > 5) return 'more than 4 cache_control'
  const messages = list(body['messages'])
  if (messages[0]?.['role'] !== 'user') return 'messages: first message must use the user role'
  const problem = messages
    .map((message, index) => problemOfMessage(message, messages[index - 1]))
    .find((one) => one !== undefined)
  const open = usesOf(messages.at(-1))
  return problem ?? (open === '' ? undefined : `no tool_result for ${open}`)
}

function problemOfMessage(message: Json, before: Json | undefined): string | undefined {
  if (message['role'] === before?.['role']) return 'messages: roles must alternate'
  const blocks = list(message['content'])
  if (blocks.length === 0) return 'messages: empty content'
  const results = idsOf(blocks, 'tool_result', 'tool_use_id').join(', ')
  if (results !== usesOf(before)) return `messages: no tool_result for ${usesOf(before)}`
  return blocks.map(problemOfBlock).find((one) => one !== undefined)
}

function usesOf(message: Json | undefined): string {
  return idsOf(list(message?.['content']), 'tool_use', 'id').join(', ')
}

function problemOfBlock(block: Json): string | undefined {
  if (block['type'] === 'text' && string(block['text']) === '') return 'text must be non-empty'
  const { input } = block
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  if (block['type'] === 'tool_use' && !isObject) return 'tool_use.input must be a dictionary'
  return undefined
}

function idsOf(blocks: readonly Json[], type: string, key: string): string[] {
  return blocks.filter((block) => block['type'] === type).map((block) => string(block[key]))
}

function toSeen(message: Json): readonly SeenMessage[] {
  const blocks = list(message['content'])
  const text = textOf(blocks)
  if (message['role'] === 'assistant') {
    const calls = blocks
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: string(id), name: string(name), arguments: input }))
    return [{ role: 'assistant', text, calls, signatures: idsOf(blocks, 'thinking', 'signature') }]
  }
  const results = blocks.filter(({ type }) => type === 'tool_result').map(toResult)
  const rest = blocks.filter(({ type }) => type !== 'tool_result')
  const seen: SeenMessage[] = results.length > 0 ? [{ role: 'tool', results }] : []
  if (rest.length > 0) seen.push({ role: 'user', text, files: filesOf(rest) })
  return seen
}

function toResult(block: Json): SeenResult {
  const { content } = block
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content)
  return { toolCallId: string(block['tool_use_id']), text: textOf(parts), files: filesOf(parts) }
}

function textOf(blocks: readonly Json[]): string {
  return blocks.map(({ type, text }) => (type === 'text' ? string(text) : '')).join('')
}

function filesOf(blocks: readonly Json[]): readonly SeenFile[] {
  return blocks
    .filter(({ type }) => type === 'image')
    .map((block) => block['source'] as Json)
    .map((source) => ({ mediaType: string(source['media_type']), base64: string(source['data']) }))
}

function event(type: string, fields: Json): string {
  return frame({ type, ...fields }, type)
}

function write(turn: Answer): readonly string[] {
  const {
    inputTokens,
    outputTokens,
    cachedInputTokens = 0,
  } = turn.usage ?? { inputTokens: 1, outputTokens: 1 }
  const usage = {
    input_tokens: inputTokens - cachedInputTokens,
    cache_read_input_tokens: cachedInputTokens,
    cache_creation_input_tokens: 0,
    output_tokens: 1,
  }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'wire',
    content: [],
    usage,
  }
  const begin = [event('message_start', { message }), event('ping', {})]
  const isWhole = turn.end === undefined || turn.end === 'stop'
  const blocks = turn.parts.flatMap((part, index) => writeBlock(part, index, isWhole))
  if (!isEnded(turn)) return [...begin, ...blocks]
  const delta = { stop_reason: stopOf(turn), stop_sequence: null }
  return [
    ...begin,
    ...blocks,
    event('message_delta', { delta, usage: { output_tokens: outputTokens } }),
    event('message_stop', {}),
  ]
}

function writeBlock(part: PlannedPart, index: number, isWhole: boolean): readonly string[] {
  const delta = (fields: Json): string => event('content_block_delta', { index, delta: fields })
  const start = (block: Json): string =>
    event('content_block_start', { index, content_block: block })
  const stop = isWhole ? [event('content_block_stop', { index })] : []
  if (part.type === 'text') {
    const pieces = part.pieces.map((text) => delta({ type: 'text_delta', text }))
    return [start({ type: 'text', text: '' }), ...pieces, ...stop]
  }
  if (part.type === 'call') {
    const { id, name } = part
    const pieces = part.pieces.map((text) =>
      delta({ type: 'input_json_delta', partial_json: text }),
    )
    return [start({ type: 'tool_use', id, name, input: {} }), ...pieces, ...stop]
  }
  const pieces = part.pieces.map((thinking) => delta({ type: 'thinking_delta', thinking }))
  const signature = delta({ type: 'signature_delta', signature: part.signature })
  return [start({ type: 'thinking', thinking: '' }), ...pieces, signature, ...stop]
}

function stopOf({ end, parts }: Answer): string {
  if (end === 'length') return 'max_tokens'
  if (end === 'content-filter') return 'refusal'
  return parts.some(({ type }) => type === 'call') ? 'tool_use' : 'end_turn'
}
