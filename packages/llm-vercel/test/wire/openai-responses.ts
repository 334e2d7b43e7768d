import type {
  PlannedPart,
  PlannedTurn,
  SeenFile,
  SeenMessage,
  SeenResult,
} from '@helix-agents/workspace-conformance/model'
import { openaiFailures } from './openai-chat.ts'
import { problemOfTools } from './schema-rules.ts'
import { fileOfAddress, frame, isEnded, type Json, list, string, type WireFormat } from './wire.ts'

type Answer = Extract<PlannedTurn, { type: 'answer' }>

/** OpenAI responses. What was answered is kept by its id, as the provider does. */
export function openaiResponses(): WireFormat {
  const kept = new Map<string, Json>()
  const itemsOf = (body: Json): readonly Json[] =>
    list(body['input']).map((item) =>
      item['type'] === 'item_reference' ? (kept.get(string(item['id'])) ?? item) : item,
    )
  return {
    path: '/responses',
    problemOf: (body) => {
      const tools = list(body['tools']).map((tool) => ({
        name: tool['name'],
        description: tool['description'],
        parameters: tool['parameters'],
        // Without a word the provider makes its tools strict.
        strict: tool['strict'] ?? true,
      }))
      return problemOfTools(tools) ?? problemOfItems(itemsOf(body))
    },
    read: (body) => {
      const items = itemsOf(body)
      const system = items.filter(({ role }) => role === 'system' || role === 'developer')
      return {
        system: system.map(({ content }) => string(content)).join('\n'),
        messages: items.filter((it) => !system.includes(it)).reduce<SeenMessage[]>(add, []),
        tools: list(body['tools']).map(({ name, parameters }) => ({
          name: string(name),
          parameters,
        })),
        maxOutputTokens: body['max_output_tokens'] as number | undefined,
      }
    },
    write: (turn) => write(turn, (item) => kept.set(string(item['id']), item)),
    writeError: (message) =>
      event('error', { code: 'server_overloaded', message, param: null, sequence_number: 99 }),
    fail: (message) => ({
      error: { message, type: 'invalid_request_error', param: null, code: null },
    }),
    failures: openaiFailures(),
  }
}

function problemOfItems(items: readonly Json[]): string | undefined {
  const open = new Set<string>()
  for (const [index, item] of items.entries()) {
    const id = string(item['call_id'])
    if (item['type'] === 'item_reference') return `input.${index}: no item ${string(item['id'])}`
    if (item['type'] === 'function_call') {
      if (typeof item['arguments'] !== 'string') return `input.${index}: arguments`
      open.add(id)
    }
    if (item['type'] === 'function_call_output' && !open.delete(id)) {
      return `input.${index}: no tool call found for call_id ${id}`
    }
  }
  return open.size > 0 ? `no tool output found for ${[...open].join(', ')}` : undefined
}

function add(seen: SeenMessage[], item: Json): SeenMessage[] {
  const { type, role, content } = item
  if (type === 'function_call_output') return addResult(seen, item)
  if (role === 'user') {
    const parts = list(content)
    const text = parts.map((part) => string(part['text'])).join('')
    return [...seen, { role: 'user', text, files: filesOf(parts) }]
  }
  const last = seen.at(-1)
  const isSame = last?.role === 'assistant'
  const before = isSame ? seen.slice(0, -1) : seen
  const answer = isSame
    ? last
    : ({ role: 'assistant', text: '', calls: [], signatures: [] } as const)
  return [...before, addToAnswer(answer, item)]
}

type SeenAnswer = Extract<SeenMessage, { role: 'assistant' }>

function addToAnswer(answer: SeenAnswer, item: Json): SeenAnswer {
  if (item['type'] === 'reasoning') {
    const signature = string(item['id']).replace(/^rs_/, '')
    return { ...answer, signatures: [...answer.signatures, signature] }
  }
  if (item['type'] === 'function_call') {
    const { call_id: id, name, arguments: given } = item
    const call = {
      id: string(id),
      name: string(name),
      arguments: JSON.parse(string(given)) as unknown,
    }
    return { ...answer, calls: [...answer.calls, call] }
  }
  const text = list(item['content']).map((part) => string(part['text']))
  return { ...answer, text: answer.text + text.join('') }
}

function addResult(seen: SeenMessage[], item: Json): SeenMessage[] {
  const { output } = item
  const parts = typeof output === 'string' ? [{ text: output }] : list(output)
  const text = parts.map((part) => string(part['text'])).join('')
  const result: SeenResult = {
    toolCallId: string(item['call_id']),
    text,
    files: filesOf(parts),
  }
  const last = seen.at(-1)
  if (last?.role !== 'tool') return [...seen, { role: 'tool', results: [result] }]
  return [...seen.slice(0, -1), { role: 'tool', results: [...last.results, result] }]
}

function filesOf(parts: readonly Json[]): readonly SeenFile[] {
  const images = parts.filter(({ type }) => type === 'input_image')
  return images.map((part) => fileOfAddress(string(part['image_url'])))
}

function event(type: string, fields: Json): string {
  return frame({ type, ...fields }, type)
}

let made = 0

function write(turn: Answer, keep: (item: Json) => void): readonly string[] {
  const response = { id: `resp_${++made}`, created_at: 1, model: 'wire' }
  const begin = ['created', 'in_progress'].map((name) => event(`response.${name}`, { response }))
  const items = turn.parts.flatMap((part, index) => writeItem(part, index, isEnded(turn), keep))
  if (!isEnded(turn)) return [...begin, ...items]
  const { end } = turn
  const reason = end === 'length' ? 'max_output_tokens' : 'content_filter'
  const isWhole = end === undefined || end === 'stop'
  const done = {
    response: {
      ...response,
      usage: usageOf(turn),
      ...(isWhole ? {} : { incomplete_details: { reason } }),
    },
  }
  return [...begin, ...items, event(isWhole ? 'response.completed' : 'response.incomplete', done)]
}

function writeItem(
  part: PlannedPart,
  index: number,
  isWhole: boolean,
  keep: (item: Json) => void,
): readonly string[] {
  const item = itemOf(part)
  const at = { output_index: index, item_id: item['id'] }
  const whole = part.pieces.join('')
  const delta = (name: string, fields: Json = {}): readonly string[] =>
    part.pieces.map((piece) => event(`response.${name}.delta`, { ...at, ...fields, delta: piece }))
  const added = event('response.output_item.added', {
    output_index: index,
    item: { ...item, ...bare(part) },
  })
  const done = event('response.output_item.done', { output_index: index, item })
  keep(item)
  const tail = isWhole ? [done] : []
  if (part.type === 'text') return [added, ...delta('output_text', { content_index: 0 }), ...tail]
  if (part.type === 'call') return [added, ...delta('function_call_arguments'), ...tail]
  const summary = { summary_index: 0 }
  return [
    added,
    event('response.reasoning_summary_part.added', { ...at, ...summary }),
    ...delta('reasoning_summary_text', summary),
    event('response.reasoning_summary_part.done', { ...at, ...summary, part: { text: whole } }),
    ...tail,
  ]
}

/** An item before it has content. */
function bare(part: PlannedPart): Json {
  if (part.type === 'call') return { arguments: '' }
  return part.type === 'text' ? { content: [] } : { summary: [] }
}

function itemOf(part: PlannedPart): Json {
  const whole = part.pieces.join('')
  if (part.type === 'text') {
    const content = [{ type: 'output_text', text: whole, annotations: [] }]
    return { type: 'message', id: `msg_${++made}`, role: 'assistant', status: 'completed', content }
  }
  if (part.type === 'call') {
    const { id, name } = part
    return {
      type: 'function_call',
      id: `fc_${++made}`,
      call_id: id,
      name,
      arguments: whole,
      status: 'completed',
    }
  }
  const summary = [{ type: 'summary_text', text: whole }]
  return {
    type: 'reasoning',
    id: `rs_${part.signature}`,
    encrypted_content: part.signature,
    summary,
  }
}

function usageOf({ usage = { inputTokens: 1, outputTokens: 1 } }: Answer): Json {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens },
    output_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}
