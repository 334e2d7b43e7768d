import {
  type LLMAdapter,
  ModelError,
  type ModelErrorCode,
  type StepInput,
  type StepResult,
  type ToolCall,
} from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import type {
  ModelSubject,
  PlannedFailure,
  PlannedTurn,
  SeenCall,
} from '@helix-agents/workspace-conformance/model'
import { toSeenCall } from './mock-subject.ts'

const IDLE_MS = 1_000
const MOST_MS = 60_000
const CODES: Readonly<Record<PlannedFailure, readonly [ModelErrorCode, boolean]>> = {
  'rate-limited': ['rate-limited', true],
  'quota-used-up': ['rate-limited', false],
  overloaded: ['overloaded', true],
  'server-error': ['model-failed', true],
  unauthorized: ['unauthorized', false],
  'context-length': ['context-length', false],
  'content-filtered': ['content-filtered', false],
  'invalid-request': ['invalid-request', false],
}

/** An adapter that keeps every clause, over a provider in memory. */
export function createReferenceModel(): ModelSubject {
  const clock = new ManualClock()
  const turns: PlannedTurn[] = []
  const calls: SeenCall[] = []
  const adapter: LLMAdapter = {
    async generateStep(input) {
      input.abortSignal.throwIfAborted()
      for (let attempt = 1; ; attempt++) {
        calls.push(toSeenCall(input))
        const end = await play(turns.shift(), input, clock)
        if (!(end instanceof ModelError)) return end
        const delayMs = end.retryAfterMs ?? 500
        const isLast = attempt > (input.config.maxRetries ?? 3) || delayMs > MOST_MS
        if (!end.retryable || isLast) return { type: 'error', error: end, shouldStop: true }
        const discardsOutput = end.code === 'connection-lost'
        input.callbacks.onRetry?.({ error: end, attempt, delayMs, discardsOutput })
        await clock.sleep(delayMs, input.abortSignal)
      }
    },
  }
  return {
    adapter,
    config: { model: 'reference' },
    plan: (...planned) => void turns.push(...planned),
    calls,
    passTime: (ms) => clock.advance(ms),
    idleTimeoutMs: IDLE_MS,
    secret: 'sk-secret',
  }
}

async function play(
  turn: PlannedTurn | undefined,
  input: StepInput,
  clock: ManualClock,
): Promise<StepResult | ModelError> {
  if (turn === undefined) throw new Error('the plan is over')
  if (turn.type === 'failure') {
    const [code, retryable] = CODES[turn.failure]
    const { retryAfterMs } = turn
    return new ModelError(code, {
      retryable,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }
  speak(turn, input)
  if (turn.end === 'silence') await clock.sleep(IDLE_MS, input.abortSignal)
  return failureOf(turn) ?? toResult(turn, input)
}

type Answer = Extract<PlannedTurn, { type: 'answer' }>

function failureOf({ end }: Answer): ModelError | undefined {
  if (end === 'silence') return new ModelError('timeout')
  if (end === 'cut') return new ModelError('connection-lost')
  if (end === 'error') return new ModelError('overloaded')
  return end === 'content-filter' ? new ModelError('content-filtered') : undefined
}

function speak({ parts }: Answer, { callbacks }: StepInput): void {
  for (const part of parts) {
    for (const piece of part.pieces) {
      if (part.type === 'text') callbacks.onTextDelta?.(piece)
      else if (part.type === 'reasoning') callbacks.onThinking?.(piece, false)
      else callbacks.onToolInput?.({ toolCallId: part.id, toolName: part.name, delta: piece })
    }
    if (part.type === 'reasoning') callbacks.onThinking?.(part.pieces.join(''), true)
  }
}

function toResult({ parts, end, usage }: Answer, { config }: StepInput): StepResult {
  const textOf = (type: 'text' | 'reasoning'): string =>
    parts.flatMap((part) => (part.type === type ? part.pieces : [])).join('')
  const toolCalls = parts
    .filter((part) => part.type === 'call')
    .map(({ id, name, pieces }) => toCall({ id, name }, pieces.join(''), end === 'length'))
  const signatures = parts.flatMap((part) => (part.type === 'reasoning' ? [part.signature] : []))
  const [content, thinking] = [textOf('text'), textOf('reasoning')]
  if (config.responseSchema !== undefined) {
    return { type: 'structured_output', output: JSON.parse(content) as unknown }
  }
  const base = {
    content,
    stopReason: end ?? 'stop',
    ...(thinking !== '' && { thinking, providerMetadata: signatures }),
    ...(usage !== undefined && {
      usage: { ...usage, totalTokens: usage.inputTokens + usage.outputTokens },
    }),
  }
  return toolCalls.length > 0
    ? { ...base, type: 'tool_calls', toolCalls }
    : { ...base, type: 'text', shouldStop: true }
}

function toCall(call: Pick<ToolCall, 'id' | 'name'>, text: string, isCut: boolean): ToolCall {
  try {
    return { ...call, arguments: JSON.parse(text) as unknown }
  } catch {
    return { ...call, arguments: text, problem: isCut ? 'truncated' : 'malformed' }
  }
}
