import { expect, test } from 'vitest'
import { type ExecuteInput, JSAgentExecutor } from '@helix-agents/runtime-js'
import { agentWith, createHarness, say, storedMessages } from './harness.ts'

test.each([
  undefined,
  null,
  5,
  {},
  { message: 5 },
  { message: { role: 'user' } },
  { message: { role: 'assistant', content: 'x' } },
  { message: [null] },
  { message: [] },
  [],
])('%j is no message, and leaves no session', async (input) => {
  const harness = createHarness([say('no')])
  const start = (executor: JSAgentExecutor) =>
    executor.execute(agentWith(), input as unknown as ExecuteInput, { sessionId: 's' })
  await expect(start(harness.executor)).rejects.toMatchObject({ code: 'invalid-message' })
  expect(await harness.store.loadSession('s')).toBeNull()
})

test('a message that is none leaves a session as it was', async () => {
  const harness = createHarness([say('one')])
  await (await harness.executor.execute(agentWith(), 'x', { sessionId: 's' })).result()
  const message = { text: 'x' } as unknown as string
  const resume = harness.executor.resume(agentWith(), 's', { message })
  await expect(resume).rejects.toMatchObject({ code: 'invalid-message' })
  expect(await storedMessages(harness)).toHaveLength(2)
})
