import type { LLMConfig, Message, ModelRetry, StepInput, StepResult } from '@helix-agents/core'
import type { ToolInputDelta, ToolSpec } from '@helix-agents/core/runtime'
import { check } from '../assert.ts'
import type { ModelSubject, PlannedPart, PlannedTurn } from './model-subject.ts'

export const SYSTEM = 'You are a careful clerk.'

export const READ_TOOL: ToolSpec = {
  name: 'read_page',
  description: 'Reads a page.',
  parameters: {
    type: 'object',
    properties: { page: { type: 'integer' }, mode: { type: 'string', enum: ['fast', 'slow'] } },
    required: ['page'],
    additionalProperties: false,
  },
}

export const STOP_TOOL: ToolSpec = {
  name: 'stop_work',
  description: 'Stops.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
}

export const TOOLS: readonly ToolSpec[] = Object.freeze([READ_TOOL, STOP_TOOL])

/** What a step emitted while it ran. */
export interface Emitted {
  readonly texts: string[]
  readonly thoughts: { readonly content: string; readonly isComplete: boolean }[]
  readonly inputs: ToolInputDelta[]
  readonly retries: ModelRetry[]
}

export interface StepOptions {
  readonly messages?: readonly Message[]
  readonly tools?: readonly ToolSpec[]
  readonly systemPrompt?: string
  readonly config?: Partial<LLMConfig>
  readonly signal?: AbortSignal
  readonly onText?: (delta: string) => void
  readonly onRetry?: (retry: ModelRetry) => void
}

/** Asks the adapter for one step, and keeps what it emits. */
export function step(
  { adapter, config }: ModelSubject,
  options: StepOptions = {},
): { readonly emitted: Emitted; readonly result: Promise<StepResult> } {
  const emitted: Emitted = { texts: [], thoughts: [], inputs: [], retries: [] }
  const input: StepInput = {
    systemPrompt: options.systemPrompt ?? SYSTEM,
    messages: options.messages ?? [user('Go.')],
    tools: options.tools ?? TOOLS,
    config: { ...config, ...options.config },
    abortSignal: options.signal ?? new AbortController().signal,
    callbacks: {
      onTextDelta: (delta) => {
        emitted.texts.push(delta)
        options.onText?.(delta)
      },
      onThinking: (content, isComplete) => emitted.thoughts.push({ content, isComplete }),
      onToolInput: (piece) => emitted.inputs.push(piece),
      onRetry: (retry) => {
        emitted.retries.push(retry)
        options.onRetry?.(retry)
      },
    },
    agentId: 'run',
    agentType: 'clerk',
  }
  return { emitted, result: adapter.generateStep(input) }
}

/** One step over a plan of one turn. */
export async function answer(
  subject: ModelSubject,
  turn: PlannedTurn,
  options: StepOptions = {},
): Promise<{ readonly emitted: Emitted; readonly result: StepResult }> {
  subject.plan(turn)
  const { emitted, result } = step(subject, options)
  return { emitted, result: await result }
}

export function user(content: string): Message {
  return { role: 'user', content }
}

export function says(...parts: readonly PlannedPart[]): PlannedTurn {
  return { type: 'answer', parts }
}

export function text(...pieces: readonly string[]): PlannedPart {
  return { type: 'text', pieces }
}

export function call(id: string, name: string, ...pieces: readonly string[]): PlannedPart {
  return { type: 'call', id, name, pieces }
}

export function thought(signature: string, ...pieces: readonly string[]): PlannedPart {
  return { type: 'reasoning', signature, pieces }
}

type ResultOf<T extends StepResult['type']> = Extract<StepResult, { readonly type: T }>

/** Narrows a result to the type that is expected. */
export function expectType<T extends StepResult['type']>(result: StepResult, type: T): ResultOf<T> {
  const said = result.type === 'error' ? `error (${String(result.error)})` : result.type
  check(result.type === type, `a result of type ${type}, not ${said}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the check above
  return result as ResultOf<T>
}

/** The message that a run stores for a step. */
export function toMessage(result: StepResult): Message {
  check(result.type === 'text' || result.type === 'tool_calls', 'an answer that makes a message')
  const { content = '', thinking, providerMetadata } = result
  return {
    role: 'assistant',
    content,
    ...(thinking !== undefined && { thinking }),
    ...(result.type === 'tool_calls' ? { toolCalls: result.toolCalls } : {}),
    ...(providerMetadata !== undefined && { providerMetadata }),
  }
}

/** The result of a call, as a run stores it. */
export function resultOf(toolCallId: string, content: string, isError = false): Message {
  return {
    role: 'tool',
    toolCallId,
    toolName: READ_TOOL.name,
    content,
    ...(isError ? { isError } : {}),
  }
}
