import type { Message } from '@helix-agents/core'
import { type Finding, finding, outcomeOf, textOf } from './evidence.ts'
import { type PlannedSession, toAssistantMessage } from './session-plan.ts'

/** Every message once, each call with one result, in the order of the plan. */
export function judgeMessages(
  plan: PlannedSession,
  messages: readonly Message[],
): readonly Finding[] {
  const planned = plannedKeys(plan)
  const found = messages.map(keyOf)
  const findings = [
    ...planned.flatMap((key) => judgeCount(key, found.filter((each) => each === key).length)),
    ...found.flatMap((key) =>
      planned.includes(key) ? [] : [finding('message-wrong', `unplanned: ${key}`)],
    ),
  ]
  if (findings.length > 0) return findings.map((each) => inSession(plan, each))
  const misplaced = planned.findIndex((key, index) => key !== found[index])
  return [
    ...(misplaced < 0 ? [] : [finding('message-wrong', `order from ${planned[misplaced]} on`)]),
    ...judgeWords(plan, messages),
  ].map((each) => inSession(plan, each))
}

const RESULT = 'result of '

function plannedKeys({ message, steps }: PlannedSession): readonly string[] {
  return [
    `user: ${message}`,
    ...steps.flatMap((step) => [
      keyOf(toAssistantMessage(step)),
      ...step.calls.map(({ id }) => `${RESULT}${id}`),
    ]),
  ]
}

function keyOf(message: Message): string {
  if (message.role === 'tool') return `${RESULT}${message.toolCallId}`
  if (message.role === 'user') return `user: ${message.content}`
  const calls = (message.toolCalls ?? []).map((call) => JSON.stringify(call))
  return `assistant: ${message.content} ${calls.join(' ')}`.trimEnd()
}

function judgeCount(key: string, times: number): readonly Finding[] {
  if (times === 1) return []
  const isResult = key.startsWith(RESULT)
  if (times === 0) return [finding(isResult ? 'result-missing' : 'message-lost', key)]
  return [finding(isResult ? 'result-doubled' : 'message-doubled', key)]
}

/** A result that says success must be that of its own call. */
function judgeWords(plan: PlannedSession, messages: readonly Message[]): readonly Finding[] {
  const calls = new Map(plan.steps.flatMap((step) => step.calls.map((call) => [call.id, call])))
  return messages.flatMap((message) => {
    if (message.role !== 'tool' || outcomeOf(message) !== 'done') return []
    const call = calls.get(message.toolCallId)
    const isRight = call?.name === message.toolName && textOf(message).includes(call.says ?? '')
    return isRight ? [] : [finding('result-wrong', `${message.toolCallId}: ${textOf(message)}`)]
  })
}

function inSession({ sessionId }: PlannedSession, { code, detail }: Finding): Finding {
  return finding(code, `${sessionId}: ${detail}`)
}
