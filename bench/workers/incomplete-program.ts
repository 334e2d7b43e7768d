// Runs where a part of it is missing at first, and prints what happens. Bundled in parts by its test.
import { rename } from 'node:fs/promises'
import { defineAgent, MockLLMAdapter, type StepResult } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'

/** What is loaded on demand, without the end of its name that it has while it is missing. */
const part = process.argv[2] ?? ''
const step: StepResult = { type: 'text', content: 'done', shouldStop: true }
const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const store = new InMemoryStateStore()
const model = new MockLLMAdapter([step, step])
const executor = new JSAgentExecutor(store, new InMemoryStreamManager(), model)

const run = async (): Promise<string> => {
  const handle = await executor.execute(agent, 'x', { sessionId: 's' })
  return (await handle.result()).status
}
const remove = (): Promise<string> =>
  executor.deleteSession(agent, 's').then(
    () => 'removed',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'other'),
  )

const told = [await run(), await remove(), await remove(), await run()]
await rename(`${part}.missing`, part)
told.push(await remove())
process.stdout.write(JSON.stringify({ told, left: await store.loadSession('s') }))
