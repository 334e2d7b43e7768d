import type {
  PlannedTurn,
  SeenMessage,
  SeenResult,
} from '@helix-agents/workspace-conformance/model'
import { problemOfTools } from './schema-rules.ts'
import {
  fileOfAddress,
  frame,
  isEnded,
  type Json,
  KEY,
  list,
  string,
  type WireFormat,
} from './wire.ts'

type Answer = Extract<PlannedTurn, { type: 'answer' }>

/** OpenAI chat completions, which most other providers and local servers speak as well. */
export const openaiChat: WireFormat = {
  path: '/chat/completions',
  problemOf: (body) => problemOfTools(toolsOf(body)) ?? problemOfMessages(list(body['messages'])),
  read: (body) => {
    const messages = list(body['messages'])
    const system = messages.filter(({ role }) => role === 'system' || role === 'developer')
    return {
      system: system.map(({ content }) => string(content)).join('\n'),
      messages: messages.filter((it) => !system.includes(it)).reduce<SeenMessage[]>(add, []),
      tools: toolsOf(body).map(({ name, parameters }) => ({ name: string(name), parameters })),
      maxOutputTokens: (body['max_completion_tokens'] ?? body['max_tokens']) as number | undefined,
    }
  },
  write,
  writeError: (message) => frame({ error: { message, type: 'overloaded', code: 'overloaded' } }),
  fail: (message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: null },
  }),
  failures: openaiFailures(),
}

export function openaiFailures(): WireFormat['failures'] {
  return {
    'rate-limited': [429, error('Rate limit reached', 'requests', 'rate_limit_exceeded')],
    'quota-used-up': [429, error('Quota', 'insufficient_quota', 'insufficient_quota')],
    overloaded: [503, error('The engine is currently overloaded', 'server_error')],
    'server-error': [500, error('The server had an error', 'server_error')],
    unauthorized: [401, error('Incorrect API key', 'invalid_request_error', 'invalid_api_key')],
    'context-length': [
      400,
      error(
        "This model's maximum context length is 128000 tokens",
        'invalid_request_error',
        'context_length_exceeded',
      ),
    ],
    'content-filtered': [
      400,
      error('Flagged by our policy', 'invalid_request_error', 'content_policy_violation'),
    ],
    'invalid-request': [
      400,
      error('Unknown parameter', 'invalid_request_error', 'unknown_parameter'),
    ],
  }
}

function error(message: string, type: string, code: string | null = null): Json {
  return { error: { message: `${message} (${KEY})`, type, param: null, code } }
}

function toolsOf(body: Json) {
  return list(body['tools']).map((tool) => {
    const { name, description, parameters, strict } = tool['function'] as Json
    return { name, description, parameters, strict }
  })
}

/** Every call is answered, right behind its message. */
function problemOfMessages(messages: readonly Json[]): string | undefined {
  let open: string[] = []
  for (const [index, message] of messages.entries()) {
    const { role, content } = message
    if (role === 'tool') {
      const id = string(message['tool_call_id'])
      if (!open.includes(id)) return `messages.${index}: no call ${id} before it`
      open = open.filter((one) => one !== id)
      continue
    }
    if (open.length > 0) return `messages.${index}: no response to ${open.join(', ')}`
    const calls = list(message['tool_calls'])
    if (calls.some((call) => typeof (call['function'] as Json)['arguments'] !== 'string')) {
      return `messages.${index}: arguments must be a string`
    }
    open = calls.map((call) => string(call['id']))
    if (role === 'assistant' && calls.length === 0 && !content) return `messages.${index}: empty`
  }
  return open.length > 0 ? `no response to ${open.join(', ')}` : undefined
}

function add(seen: SeenMessage[], message: Json): SeenMessage[] {
  const { role, content } = message
  if (role === 'tool') return addResult(seen, message)
  if (role === 'assistant') {
    const calls = list(message['tool_calls']).map((call) => {
      const { name, arguments: given } = call['function'] as Json
      return {
        id: string(call['id']),
        name: string(name),
        arguments: JSON.parse(string(given)) as unknown,
      }
    })
    return [...seen, { role: 'assistant', text: string(content), calls, signatures: [] }]
  }
  if (typeof content === 'string') return [...seen, { role: 'user', text: content, files: [] }]
  const parts = list(content)
  const images = parts.filter(({ type }) => type === 'image_url')
  return [
    ...seen,
    {
      role: 'user',
      text: parts.map(({ text }) => string(text)).join(''),
      files: images.map((part) => fileOfAddress(string((part['image_url'] as Json)['url']))),
    },
  ]
}

function addResult(seen: SeenMessage[], message: Json): SeenMessage[] {
  const toolCallId = string(message['tool_call_id'])
  const result: SeenResult = { toolCallId, text: string(message['content']), files: [] }
  const last = seen.at(-1)
  if (last?.role !== 'tool') return [...seen, { role: 'tool', results: [result] }]
  return [...seen.slice(0, -1), { role: 'tool', results: [...last.results, result] }]
}

function write(turn: Answer): readonly string[] {
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'wire' }
  const chunk = (delta: Json, finish: string | null = null): string =>
    frame({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] })
  let calls = -1
  const pieces = turn.parts.flatMap((part) => {
    if (part.type === 'text') return part.pieces.map((content) => chunk({ content }))
    if (part.type === 'reasoning') return []
    calls += 1
    const index = calls
    const start = { id: part.id, type: 'function', function: { name: part.name, arguments: '' } }
    const rest = part.pieces.map((text) => ({ index, function: { arguments: text } }))
    return [{ index, ...start }, ...rest].map((call) => chunk({ tool_calls: [call] }))
  })
  const begun = [chunk({ role: 'assistant', content: '' }), ...pieces]
  if (!isEnded(turn)) return begun
  const usage = frame({ ...base, choices: [], usage: usageOf(turn) })
  return [...begun, chunk({}, finishOf(turn, calls >= 0)), usage, frame('[DONE]')]
}

function finishOf({ end }: Answer, hasCalls: boolean): string {
  if (end === 'content-filter') return 'content_filter'
  if (end === 'length') return 'length'
  return hasCalls ? 'tool_calls' : 'stop'
}

function usageOf({ usage = { inputTokens: 1, outputTokens: 1 } }: Answer): Json {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}
