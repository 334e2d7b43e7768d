// What tools give is not always JSON: the model, the readers of the stream and the stored session see
// the same in memory and in SQLite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent, defineTool, MockLLMAdapter, type StepResult } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { expect, test } from 'vitest'
import * as z from 'zod'

const hostile = {
  toJSON(): never {
    throw new Error('not for you')
  },
}
const common = { description: '', inputSchema: z.object({}) }
const tools = {
  result: defineTool({ ...common, name: 'result', execute: () => hostile }),
  shown: defineTool({
    ...common,
    name: 'shown',
    execute: () => 'x',
    toModelOutput: () => [{ type: 'text', text: 'hello', ...hostile }],
  }),
  silent: defineTool({
    ...common,
    name: 'silent',
    execute: () => hostile,
    toModelOutput: () => 'fine',
  }),
  finish: defineTool({ ...common, name: 'finish', finishWith: true, execute: () => hostile }),
}

async function openStores(kind: string, folder: string) {
  if (kind === 'sqlite') return openSqliteStores(join(folder, 'x.db'))
  return {
    stateStore: new InMemoryStateStore(),
    streamManager: new InMemoryStreamManager(),
    close: async () => {},
  }
}

async function outcomeOf(kind: string, name: keyof typeof tools) {
  const folder = mkdtempSync(join(tmpdir(), 'helix-results-'))
  const stores = await openStores(kind, folder)
  const call: StepResult = {
    type: 'tool_calls',
    toolCalls: [{ id: '1', name, arguments: {} }],
  }
  const model = new MockLLMAdapter([call, { type: 'text', content: 'done', shouldStop: true }])
  const executor = new JSAgentExecutor(stores.stateStore, stores.streamManager, model)
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [tools[name]] })
  const handle = await executor.execute(agent, 'Go', { sessionId: 's' })
  const { status, error } = await handle.result()
  const { messages } = await stores.stateStore.loadMessages('s')
  const read = messages.find(({ role }) => role === 'tool')
  const types: string[] = []
  for await (const { type } of handle.stream()) types.push(type)
  await stores.close()
  rmSync(folder, { recursive: true })
  return { status, code: error?.code, read: read?.content, types }
}

const goesOn = {
  status: 'completed',
  code: undefined,
  types: ['tool_start', 'tool_end', 'text_delta', 'output'],
}

test.each([
  ['result', '(the call succeeded; its result cannot be shown)'],
  ['shown', [{ type: 'text', text: 'hello' }]],
  ['silent', 'fine'],
  ['finish', 'Error [tool-failed]: the output is no plain JSON'],
] as const)('a toJSON that throws in the %s of a tool', async (name, read) => {
  for (const kind of ['memory', 'sqlite']) {
    expect(await outcomeOf(kind, name)).toEqual({ ...goesOn, read })
  }
})
