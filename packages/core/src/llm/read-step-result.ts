import { ModelError, type ModelErrorCode } from '../errors/model-error.ts'
import {
  ContentMeter,
  contentLimits,
  type ContentProblem,
  contentProblem,
} from './content-limits.ts'
import type { StepResult } from './llm-adapter.ts'
import type { ToolCall } from './messages.ts'
import { isRecord } from '../tools/json-schema.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads what an adapter answered; it comes from outside. An answer that has another shape than
 * `StepResult` says, or that is over `contentLimits`, becomes one of type `error`; of a single call
 * whose arguments are over them, the model gets an error. What fits is returned as it is.
 */
export function readStepResult(answer: unknown): StepResult {
  try {
    return read(answer)
  } catch (cause) {
    return failed('model-failed', 'the answer cannot be read', { cause })
  }
}

function read(answer: unknown): StepResult {
  if (!isRecord(answer)) return failed('model-failed', 'the adapter gave no step')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each branch checks what it needs
  const result = answer as Fields & StepResult
  switch (result.type) {
    case 'text':
      return readText(result, answer)
    case 'tool_calls':
      return readCalls(result, answer)
    case 'structured_output':
      return readOutput(result)
    default:
      return result
  }
}

function readText(result: Extract<StepResult, { type: 'text' }>, fields: Fields): StepResult {
  return saidProblem(new ContentMeter(), fields) ?? result
}

/** What is wrong with the texts of an answer and what comes with them. */
function saidProblem(meter: ContentMeter, fields: Fields): StepResult | undefined {
  const { content, thinking = '', providerMetadata } = fields
  if (typeof content !== 'string' || typeof thinking !== 'string') {
    return failed('model-failed', 'the text of the answer is no text')
  }
  const problem =
    meter.text(content) ?? meter.text(thinking) ?? metadataProblem(meter, providerMetadata)
  return problem === undefined ? undefined : tooLarge(problem)
}

function readCalls(
  result: Extract<StepResult, { type: 'tool_calls' }>,
  fields: Fields,
): StepResult {
  const { content = '', toolCalls } = fields
  if (!Array.isArray(toolCalls)) return failed('malformed-tool-call', 'the calls are no list')
  if (toolCalls.length > contentLimits.maxToolCalls) return tooLarge('too-large')
  // A hole in the list is a call, too, which `map` would leave out.
  const bad = Array.from(toolCalls, callProblem).find((each) => each !== undefined)
  if (bad !== undefined) return failed('malformed-tool-call', bad)
  const meter = new ContentMeter()
  return saidProblem(meter, { ...fields, content }) ?? withReadableArguments(result, meter)
}

/** Why a call cannot be stored, and so cannot be answered. */
function callProblem(call: unknown): string | undefined {
  if (!isRecord(call)) return 'a call is no object'
  const { id, name } = call
  if (typeof name !== 'string' || name === '') return 'a call names no tool'
  if (name.length > contentLimits.maxIdCharacters) return 'the name of a tool is too long'
  return id === undefined || typeof id === 'string' ? undefined : 'the id of a call is no text'
}

/** Calls over the limits are not run: their arguments are dropped, and the model gets an error. */
function withReadableArguments(
  result: Extract<StepResult, { type: 'tool_calls' }>,
  meter: ContentMeter,
): StepResult {
  let isChanged = false
  const toolCalls = result.toolCalls.map((call) => {
    const id = usableId(call.id)
    const problem = argumentsProblem(meter, call)
    if (problem === undefined && id === call.id) return call
    isChanged = true
    return problem === undefined ? { ...call, id } : { id, name: call.name, arguments: {}, problem }
  })
  return isChanged ? { ...result, toolCalls } : result
}

function argumentsProblem(meter: ContentMeter, call: ToolCall): ToolCall['problem'] {
  const problem = meter.value(call.arguments)
  return problem === 'not-json' ? 'malformed' : problem
}

/** An id that no store takes, or none at all, is replaced when the step is planned. */
function usableId(id: string | undefined): string {
  return id === undefined || id.length > contentLimits.maxIdCharacters ? '' : id
}

function readOutput(result: Extract<StepResult, { type: 'structured_output' }>): StepResult {
  const problem = contentProblem(result.output)
  return problem === undefined ? result : tooLarge(problem)
}

function metadataProblem(meter: ContentMeter, metadata: unknown): ContentProblem | undefined {
  return metadata === undefined ? undefined : meter.value(metadata)
}

function tooLarge(problem: ContentProblem): StepResult {
  if (problem === 'not-json') return failed('model-failed', 'the answer is no plain JSON')
  return failed('answer-too-large')
}

function failed(
  code: ModelErrorCode,
  detail?: string,
  { cause }: { readonly cause?: unknown } = {},
): StepResult {
  const options = {
    ...(detail !== undefined && { detail }),
    ...(cause !== undefined && { cause }),
  }
  const error = new ModelError(code, options)
  return { type: 'error', error, shouldStop: !error.retryable }
}
