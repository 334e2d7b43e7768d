import type { AssistantMessage, ToolCall, ToolResultMessage } from '../llm/messages.ts'
import type { JsonValue } from '../tools/json-schema.ts'
import { limitText } from '../tools/result-budget.ts'
import type { ModelOutput } from '../tools/model-output.ts'

/** The message that stores a text answer or tool calls of the model. */
export function createAssistantMessage(step: {
  readonly content?: string | undefined
  readonly thinking?: string | undefined
  readonly toolCalls?: readonly ToolCall[]
  readonly isCutOff?: boolean
  readonly providerMetadata?: JsonValue | undefined
}): AssistantMessage {
  const { providerMetadata } = step
  return {
    role: 'assistant',
    content: step.content ?? '',
    ...(step.thinking !== undefined && { thinking: step.thinking }),
    ...(step.toolCalls !== undefined && { toolCalls: step.toolCalls }),
    ...(step.isCutOff === true ? { isCutOff: true } : {}),
    ...(providerMetadata !== undefined && { providerMetadata }),
  }
}

/** The message that answers one tool call. */
export function createToolResultMessage(
  call: Pick<ToolCall, 'id' | 'name'>,
  result: { readonly content: ModelOutput; readonly isError?: boolean },
): ToolResultMessage {
  return {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    content: typeof result.content === 'string' ? limitText(result.content) : result.content,
    ...(result.isError === true ? { isError: true } : {}),
  }
}
