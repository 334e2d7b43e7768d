import { ModelError } from '../errors/model-error.ts'
import type { StepResult } from '../llm/llm-adapter.ts'
import type { AssistantMessage, ToolCall } from '../llm/messages.ts'
import { createAssistantMessage } from './create-messages.ts'

/** What a run does with one answer of the model. */
export type StepPlan =
  /** Store the message; then end, or ask the model again. */
  | { readonly type: 'answer'; readonly message: AssistantMessage; readonly isFinal: boolean }
  /** Store the message, run the calls, store their results, ask the model again. */
  | {
      readonly type: 'calls'
      readonly message: AssistantMessage
      readonly toolCalls: readonly ToolCall[]
    }
  /** The model gave the output itself. */
  | {
      readonly type: 'output'
      readonly message: AssistantMessage
      readonly output: unknown
    }
  | { readonly type: 'error'; readonly error: unknown; readonly isFinal: boolean }

/** Turns an answer of the model into the work that follows from it. */
export function planStepProcessing(result: StepResult): StepPlan {
  if (result.type === 'tool_calls') return planCalls(result)
  if (result.type === 'error') {
    return { type: 'error', error: result.error, isFinal: result.shouldStop }
  }
  if (result.type === 'text') {
    const isCutOff = result.stopReason === 'length'
    const message = createAssistantMessage({ ...result, isCutOff })
    return { type: 'answer', message, isFinal: result.shouldStop }
  }
  if (result.type === 'structured_output') {
    const message = createAssistantMessage({ content: JSON.stringify(result.output) })
    return { type: 'output', message, output: result.output }
  }
  return unknownStep(result)
}

/** An adapter in plain JavaScript may answer anything: no step is not the end of a run. */
function unknownStep(result: never): StepPlan {
  const type: unknown = (result as { type?: unknown } | undefined)?.type
  const detail = `the adapter gave a step of the unknown type ${JSON.stringify(type) ?? 'undefined'}`
  return { type: 'error', error: new ModelError('model-failed', { detail }), isFinal: true }
}

function planCalls(result: Extract<StepResult, { type: 'tool_calls' }>): StepPlan {
  const { content, thinking, providerMetadata } = result
  if (result.toolCalls.length === 0) {
    const message = createAssistantMessage({ content, thinking, providerMetadata })
    return { type: 'answer', message, isFinal: true }
  }
  const toolCalls = withUniqueIds(result.toolCalls)
  return {
    type: 'calls',
    message: createAssistantMessage({ content, thinking, toolCalls, providerMetadata }),
    toolCalls,
  }
}

/**
 * Results are matched by id: an id that is missing or used twice in a step gets a new one, of
 * characters that every provider takes.
 */
function withUniqueIds(calls: readonly ToolCall[]): readonly ToolCall[] {
  const seen = new Set<string>()
  let changed = false
  const unique = calls.map((call, index) => {
    const usable = call.id !== '' && !seen.has(call.id)
    let id = usable ? call.id : `${call.id === '' ? 'call' : call.id}_${index}`
    while (seen.has(id)) id += `_${index}`
    seen.add(id)
    changed ||= !usable
    return usable ? call : { ...call, id }
  })
  return changed ? unique : calls
}
