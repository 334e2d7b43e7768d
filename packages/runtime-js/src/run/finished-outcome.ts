import {
  type AssistantMessage,
  FINISH_TOOL_NAME,
  type Message,
  type ToolCall,
} from '@helix-agents/core'
import type { RunOutcome } from '../agent-result.ts'
import type { Run } from './run.ts'

/**
 * The outcome of a run whose process died after its last step and before its end: the
 * conversation shows that the agent was done. `undefined` when it was not.
 */
export async function finishedOutcome(run: Run): Promise<RunOutcome | undefined> {
  const last = run.messages.at(-1)
  if (last?.role === 'assistant') return finalText(run, last)
  return last?.role === 'tool' ? finishedByTool(run) : undefined
}

function finalText({ agent }: Run, message: AssistantMessage): RunOutcome | undefined {
  const isAnswer = message.toolCalls === undefined && agent.outputSchema === undefined
  return isAnswer ? { status: 'completed', output: message.content } : undefined
}

async function finishedByTool({ messages, toolSet }: Run): Promise<RunOutcome | undefined> {
  const position = messages.findLastIndex((message) => message.role === 'assistant')
  const calls = callsOf(messages[position])
  const isFinish = (name: string): boolean => toolSet.tools.byName.get(name)?.finishWith === true
  for (const call of calls.filter(({ name }) => isFinish(name))) {
    const result = messages.slice(position + 1).find((message) => isResultOf(message, call.id))
    if (result === undefined) continue
    // What `__finish__` gives is its own arguments; of another tool only the text was kept.
    const finish = call.name === FINISH_TOOL_NAME ? toolSet.tools.byName.get(call.name) : undefined
    const output = finish === undefined ? result.content : await finish.parse(call.arguments)
    return { status: 'completed', output }
  }
  return undefined
}

function callsOf(message: Message | undefined): readonly ToolCall[] {
  return message?.role === 'assistant' ? (message.toolCalls ?? []) : []
}

function isResultOf(message: Message, toolCallId: string): boolean {
  return message.role === 'tool' && message.toolCallId === toolCallId && message.isError !== true
}
