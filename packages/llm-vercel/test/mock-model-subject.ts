import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import { APICallError } from '@ai-sdk/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import type {
  ModelFeature,
  ModelSubject,
  PlannedFailure,
  PlannedPart,
  PlannedTurn,
  SeenCall,
  SeenFile,
  SeenMessage,
} from '@helix-agents/workspace-conformance/model'
import { MockLanguageModelV4 } from 'ai/test'

export const mockOffers: readonly ModelFeature[] = [
  'streaming',
  'tool-input',
  'reasoning',
  'media',
  'failures',
  'structured-output',
  'settings',
]

const SECRET = 'sk-mock-0123456789abcdef'
const IDLE_MS = 20_000

/** The adapter in front of the mock model of the AI SDK. */
export function createMockModelSubject(): ModelSubject {
  const turns: PlannedTurn[] = []
  const calls: SeenCall[] = []
  const model = new MockLanguageModelV4({
    provider: 'mock.chat',
    doStream: async (options) => {
      calls.push(toSeenCall(options))
      const turn = turns.shift()
      if (turn === undefined) throw new Error('the plan is over')
      if (turn.type === 'failure') throw toCallError(turn.failure, turn.retryAfterMs)
      return { stream: streamOf(turn, options.abortSignal) }
    },
  })
  const clock = new ManualClock()
  return {
    adapter: new VercelAIAdapter({ clock, idleTimeoutMs: IDLE_MS }),
    config: { model },
    plan: (...planned) => void turns.push(...planned),
    calls,
    passTime: (ms) => clock.advance(ms),
    idleTimeoutMs: IDLE_MS,
    secret: SECRET,
  }
}

type Answer = Extract<PlannedTurn, { type: 'answer' }>

function streamOf(turn: Answer, signal?: AbortSignal): ReadableStream<LanguageModelV4StreamPart> {
  const parts = partsOf(turn)
  let next = 0
  return new ReadableStream({
    start: (controller) => signal?.addEventListener('abort', () => controller.error(signal.reason)),
    pull: (controller) => {
      const part = parts[next++]
      if (part !== undefined) controller.enqueue(part)
      else if (turn.end === 'silence') return new Promise(() => {})
      else if (turn.end === 'cut') controller.error(new TypeError('terminated'))
      else controller.close()
      return undefined
    },
  })
}

type Unified = Extract<LanguageModelV4StreamPart, { type: 'finish' }>['finishReason']['unified']

function partsOf(turn: Answer): readonly LanguageModelV4StreamPart[] {
  const { end, usage } = turn
  const isWhole = end === undefined || end === 'stop'
  const said = turn.parts.flatMap((part, index) => toStreamParts(part, String(index), isWhole))
  const begin: LanguageModelV4StreamPart = { type: 'stream-start', warnings: [] }
  if (end === 'cut' || end === 'silence') return [begin, ...said]
  const hasCalls = turn.parts.some(({ type }) => type === 'call')
  if (end === 'error') {
    const error = { type: 'overloaded_error', message: SECRET }
    return [begin, ...said, { type: 'error', error }]
  }
  const unified: Unified = end ?? (hasCalls ? 'tool-calls' : 'stop')
  const finishReason = { unified, raw: undefined }
  return [begin, ...said, { type: 'finish', finishReason, usage: toUsage(usage) }]
}

function toStreamParts(
  part: PlannedPart,
  id: string,
  isWhole: boolean,
): readonly LanguageModelV4StreamPart[] {
  if (part.type === 'call') {
    const { id: toolCallId, name: toolName, pieces } = part
    const input = pieces.join('')
    const deltas = pieces.map(
      (delta) => ({ type: 'tool-input-delta', id: toolCallId, delta }) as const,
    )
    const start = { type: 'tool-input-start', id: toolCallId, toolName } as const
    const whole = { type: 'tool-call', toolCallId, toolName, input } as const
    const end = { type: 'tool-input-end', id: toolCallId } as const
    return isWhole ? [start, ...deltas, end, whole] : [start, ...deltas]
  }
  const { type, pieces } = part
  const deltas = pieces.map((delta) => ({ type: `${type}-delta`, id, delta }) as const)
  const metadata =
    part.type === 'reasoning' ? { providerMetadata: { mock: { signature: part.signature } } } : {}
  return [{ type: `${type}-start`, id }, ...deltas, { type: `${type}-end`, id, ...metadata }]
}

function toUsage(usage: Answer['usage']): LanguageModelV4Usage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage ?? {
    inputTokens: 1,
    outputTokens: 1,
  }
  return {
    inputTokens: {
      total: inputTokens,
      noCache: undefined,
      cacheRead: cachedInputTokens,
      cacheWrite: undefined,
    },
    outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens },
  }
}

const STATUS: Readonly<Record<PlannedFailure, readonly [number, string]>> = {
  'rate-limited': [429, 'rate limit'],
  'quota-used-up': [429, 'insufficient_quota'],
  overloaded: [529, 'overloaded'],
  'server-error': [500, 'internal'],
  unauthorized: [401, 'bad key'],
  'context-length': [400, 'the prompt is too long'],
  'content-filtered': [400, 'blocked by the content filter'],
  'invalid-request': [400, 'unknown parameter'],
}

function toCallError(failure: PlannedFailure, retryAfterMs?: number): APICallError {
  const [statusCode, message] = STATUS[failure]
  return new APICallError({
    message: `${message} ${SECRET}`,
    url: `https://example.com/?key=${SECRET}`,
    requestBodyValues: { prompt: SECRET },
    statusCode,
    responseHeaders: {
      authorization: SECRET,
      ...(retryAfterMs !== undefined && { 'retry-after-ms': String(retryAfterMs) }),
    },
    responseBody: JSON.stringify({ error: { message: SECRET } }),
    data: { error: { code: failure === 'quota-used-up' ? 'insufficient_quota' : SECRET } },
  })
}

function toSeenCall({
  prompt,
  tools = [],
  headers = {},
  maxOutputTokens,
}: LanguageModelV4CallOptions): SeenCall {
  return {
    system: prompt.map((message) => (message.role === 'system' ? message.content : '')).join(''),
    messages: prompt.flatMap(toSeenMessage),
    tools: tools.map((tool) => ({
      name: tool.name,
      parameters: tool.type === 'function' ? tool.inputSchema : {},
    })),
    headers: headers as Readonly<Record<string, string>>,
    maxOutputTokens,
  }
}

function toSeenMessage(message: LanguageModelV4Message): readonly SeenMessage[] {
  if (message.role === 'system') return []
  if (message.role === 'user') {
    const text = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return [
      { role: 'user', text, files: message.content.filter((it) => it.type === 'file').map(toFile) },
    ]
  }
  if (message.role === 'tool') {
    const results = message.content.filter((part) => part.type === 'tool-result')
    return [
      {
        role: 'tool',
        results: results.map(({ toolCallId, output }) => ({ toolCallId, ...toResult(output) })),
      },
    ]
  }
  const { content } = message
  return [
    {
      role: 'assistant',
      text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      calls: content
        .filter((part) => part.type === 'tool-call')
        .map((part) => ({ id: part.toolCallId, name: part.toolName, arguments: part.input })),
      signatures: content
        .filter((part) => part.type === 'reasoning')
        .map((part) => part.providerOptions?.['mock']?.['signature'] as string),
    },
  ]
}

type Output = Extract<
  Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number],
  { type: 'tool-result' }
>['output']

function toResult(output: Output): { readonly text: string; readonly files: readonly SeenFile[] } {
  if (output.type === 'text' || output.type === 'error-text')
    return { text: output.value, files: [] }
  if (output.type !== 'content') return { text: '', files: [] }
  return {
    text: output.value.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    files: output.value.filter((part) => part.type === 'file').map(toFile),
  }
}

function toFile({
  data,
  mediaType,
}: Pick<LanguageModelV4FilePart, 'data' | 'mediaType'>): SeenFile {
  return { mediaType, base64: data.type === 'data' ? String(data.data) : '' }
}
