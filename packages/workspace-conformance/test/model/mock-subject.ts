import { type Message, MockLLMAdapter, type StepInput, type StepResult } from '@helix-agents/core'
import type {
  ModelSubject,
  PlannedTurn,
  SeenCall,
  SeenFile,
  SeenMessage,
} from '@helix-agents/workspace-conformance/model'

const MOST_STEPS = 10

/** The scripted model of core: it answers and does nothing else. */
export function createMockSubject(): ModelSubject {
  const turns: PlannedTurn[] = []
  const calls: SeenCall[] = []
  const steps = Array.from({ length: MOST_STEPS }, () => (input: StepInput): StepResult => {
    calls.push(toSeenCall(input))
    return toStepResult(turns.shift())
  })
  return {
    adapter: new MockLLMAdapter(steps),
    config: { model: 'scripted' },
    plan: (...planned) => void turns.push(...planned),
    calls,
    passTime: async () => {},
    idleTimeoutMs: 1,
    secret: 'secret',
  }
}

/** A turn as a whole step, without anything that can go wrong. */
export function toStepResult(turn: PlannedTurn | undefined): StepResult {
  if (turn?.type !== 'answer') throw new Error(`not in the script: ${turn?.type}`)
  const { parts, usage } = turn
  const textOf = (type: 'text' | 'reasoning'): string =>
    parts.flatMap((part) => (part.type === type ? part.pieces : [])).join('')
  const toolCalls = parts
    .filter((part) => part.type === 'call')
    .map(({ id, name, pieces }) => ({
      id,
      name,
      arguments: JSON.parse(pieces.join('')) as unknown,
    }))
  const base = { content: textOf('text'), ...(usage !== undefined && { usage }) }
  return toolCalls.length > 0
    ? { ...base, type: 'tool_calls', toolCalls }
    : { ...base, type: 'text', shouldStop: true }
}

export function toSeenCall({ systemPrompt = '', messages, tools, config }: StepInput): SeenCall {
  return {
    system: systemPrompt,
    messages: messages.reduce<readonly SeenMessage[]>(addMessage, []),
    tools,
    headers: config.headers ?? {},
    maxOutputTokens: config.maxOutputTokens,
  }
}

function addMessage(seen: readonly SeenMessage[], message: Message): readonly SeenMessage[] {
  if (message.role === 'user') {
    const files = (message.files ?? []).map(({ data, mediaType }) => toFile(data, mediaType))
    return [...seen, { role: 'user', text: message.content, files }]
  }
  if (message.role === 'assistant') {
    const { content: text, toolCalls = [], providerMetadata } = message
    const calls = toolCalls.map((call) => ({
      id: call.id,
      name: call.name,
      arguments: call.arguments,
    }))
    const signatures = Array.isArray(providerMetadata) ? (providerMetadata as string[]) : []
    return [...seen, { role: 'assistant', text, calls, signatures }]
  }
  const { toolCallId, content } = message
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content
  const result = {
    toolCallId,
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    files: parts.flatMap((part) =>
      part.type === 'media' ? [toFile(part.data, part.mediaType)] : [],
    ),
  }
  const last = seen.at(-1)
  if (last?.role !== 'tool') return [...seen, { role: 'tool', results: [result] }]
  return [...seen.slice(0, -1), { role: 'tool', results: [...last.results, result] }]
}

function toFile(data: Uint8Array | string, mediaType: string): SeenFile {
  const base64 = typeof data === 'string' ? data : Buffer.from(data).toString('base64')
  return { mediaType, base64 }
}
