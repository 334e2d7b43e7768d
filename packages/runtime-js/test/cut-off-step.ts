// A session whose process died in the middle of a step, written down as the store has it then.
import { defineAgent, defineTool, type Message, type ToolAnnotations } from '@helix-agents/core'
import type { JournalEntry } from '@helix-agents/core/runtime'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import * as z from 'zod'
import { calls, createHarness, textOfResult } from './harness.ts'

/** Tools that ran, since the last session was cut off. */
export const ran: string[] = []

export function note(name: string, annotations: Partial<ToolAnnotations> = {}, orderKey = name) {
  return defineTool({
    name,
    orderKey,
    description: '',
    inputSchema: z.object({}),
    annotations,
    execute: () => {
      ran.push(name)
      return `${name} ran`
    },
  })
}
export const config = {
  name: 'a',
  llmConfig: { model: {} },
  outputSchema: z.object({ answer: z.string() }),
}
export const agent = defineAgent({
  ...config,
  tools: [
    note('look', { readOnly: true }),
    note('put', { idempotent: true }),
    note('charge'),
    note('refund'),
  ],
})
export const finish = calls(['__finish__', { answer: 'ok' }])

/** A session whose process died in the middle of a step. */
export async function died(messages: readonly Message[], journal: readonly JournalEntry[] = []) {
  ran.length = 0
  const store = new InMemoryStateStore()
  const write = { sessionId: 's', runId: 'dead', now: 0 }
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 0 })
  await store.beginRun({ ...write, leaseMs: 1 })
  await store.appendMessages({ ...write, messages: messages.slice(0, 1) })
  await store.beginStep({ ...write, messages: messages.slice(1), journal })
  return createHarness([finish], { store })
}

export function asked(...names: readonly string[]): readonly Message[] {
  const toolCalls = names.map((name, index) => ({ id: `${index}`, name, arguments: {} }))
  return [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: '', toolCalls },
  ]
}

export function started(toolCallId: string, toolName: string): JournalEntry {
  return { toolCallId, toolName, arguments: {}, startedAt: 0 }
}

export async function resultsOf({ store }: ReturnType<typeof createHarness>): Promise<string[]> {
  const { messages } = await store.loadMessages('s')
  return messages.filter(({ role }) => role === 'tool').map((message) => textOfResult(message))
}
