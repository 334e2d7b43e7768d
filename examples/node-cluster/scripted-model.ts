import { type LLMAdapter, type Message, MockLLMAdapter, type StepResult } from '@helix-agents/core'
import { setTimeout as pause } from 'node:timers/promises'
import { STEPS } from './agent.ts'

const THINKING_MS = 150

/**
 * A model without a key. Each answer follows from the conversation alone, so that any machine continues.
 * Put your own `LLMAdapter` in its place.
 */
export const scriptedModel: LLMAdapter = {
  generateStep: async (input) => {
    await pause(THINKING_MS)
    return new MockLLMAdapter([nextStep(input.messages)]).generateStep(input)
  },
}

/** A call whose machine died has an error for a result: it is repeated. */
function nextStep(messages: readonly Message[]): StepResult {
  const results = messages.filter((each) => each.role === 'tool' && each.isError !== true)
  const done = results.filter((each) => each.role === 'tool' && each.toolName === 'record').length
  if (done < STEPS) return callOf('record', messages, { number: done + 1 })
  const last = results.at(-1)
  if (last?.role !== 'tool' || last.toolName !== 'check') return callOf('check', messages, {})
  const [, missing] = JSON.stringify(last.content).match(/missing: (\d+)/) ?? []
  if (missing !== undefined) return callOf('record', messages, { number: Number(missing) })
  return { type: 'text', content: `I have recorded ${STEPS} numbers.`, shouldStop: true }
}

function callOf(name: string, messages: readonly Message[], input: object): StepResult {
  const id = `${name}-${messages.length}`
  return { type: 'tool_calls', toolCalls: [{ id, name, arguments: { ...input } }] }
}
