// Which results of a step are stored before the step itself, and when a run may end.
import { createSubAgentTool, defineAgent, defineTool } from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, gate, say, settle, storedMessages } from './harness.ts'

/** A tool that changes something, and waits for the test. */
function held(name: string) {
  const [reached, hold] = [gate(), gate()]
  const ended: string[] = []
  const tool = defineTool({
    name,
    orderKey: name,
    description: '',
    inputSchema: z.object({}),
    execute: async () => {
      reached.open()
      await hold.opened
      ended.push(name)
      return `${name} ran`
    },
  })
  return { tool, reached, hold, ended }
}

test('a call that ends last in a step that is paused is not repeated, and keeps its result', async () => {
  const [wait, charge] = [held('wait'), held('charge')]
  const child = defineAgent({ name: 'child', llmConfig: { model: {} }, tools: [wait.tool] })
  const parent = defineAgent({
    name: 'parent',
    llmConfig: { model: {} },
    tools: [createSubAgentTool(child, z.object({})), charge.tool],
  })
  const harness = createHarness([calls(['subagent__child'], ['charge']), calls(['wait'])])
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 's' })
  await Promise.all([wait.reached.opened, charge.reached.opened])
  await handle.interrupt()
  wait.hold.open()
  await settle()
  // The sub-agent is paused: its call stays open. The other call is the last one that runs.
  charge.hold.open()
  expect((await handle.result()).status).toBe('interrupted')
  const journal = await harness.store.loadJournal('s')
  expect(journal.find(({ toolName }) => toolName === 'charge')?.result).toBeDefined()
  const open = journal.find(({ toolName }) => toolName === 'subagent__child')
  expect(open?.result).toBeUndefined()

  const next = harness.next([say('child is done'), say('done')])
  const resumed = await next.executor.resume(parent, 's')
  expect(await resumed.result()).toMatchObject({ status: 'completed', output: 'done' })
  expect(charge.ended).toEqual(['charge'])
  const results = (await storedMessages(next)).filter(({ role }) => role === 'tool')
  expect(results.map(({ content }) => content)).toEqual(['child is done', 'charge ran'])
})

test('a run that fails ends when the last of its calls has ended', async () => {
  const [quick, slow] = [held('quick'), held('slow')]
  const store = new InMemoryStateStore()
  store.completeToolCall = () => Promise.reject(new Error('no answer'))
  const harness = createHarness([calls(['quick'], ['slow'])], { store })
  const agent = agentWith(quick.tool, slow.tool)
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  let isOver = false
  const result = handle.result().finally(() => (isOver = true))
  await Promise.all([quick.reached.opened, slow.reached.opened])
  quick.hold.open()
  await settle()
  expect(isOver).toBe(false)
  expect(await store.loadSession('s')).toMatchObject({ status: 'running' })
  slow.hold.open()
  expect((await result).status).toBe('failed')
  expect(slow.ended).toEqual(['slow'])
})
