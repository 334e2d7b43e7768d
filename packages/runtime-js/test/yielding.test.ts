// A run whose model and tools do no real I/O leaves timers their turn.
import { defineAgent, defineTool } from '@helix-agents/core'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { add, agentWith, calls, createHarness, say } from './harness.ts'

function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('timers ring while a run of many steps goes on', async () => {
  const steps = Array.from({ length: 40 }, () => () => {
    work(4)
    return calls(['add', { a: 1, b: 2 }])
  })
  const { executor } = createHarness([...steps, say('Done.')])
  let rung = 0
  const timer = setInterval(() => {
    rung += 1
  }, 1)
  const handle = await executor.execute(agentWith(add), 'Go.', { sessionId: 's' })
  const result = await handle.result()
  clearInterval(timer)
  expect(result.status).toBe('completed')
  expect(rung).toBeGreaterThan(5)
})

test('a stop reaches it from a timer', async () => {
  const forever = Array.from({ length: 5000 }, () => () => {
    work(1)
    return calls(['add', { a: 1, b: 2 }])
  })
  const { executor } = createHarness(forever)
  const handle = await executor.execute({ ...agentWith(add), maxSteps: 5000 }, 'Go.')
  setTimeout(() => void handle.abort(), 30)
  expect((await handle.result()).stepCount).toBeLessThan(2000)
})

test.each([
  ['that run in parallel', true],
  ['that wait for each other', false],
])('many calls of one answer %s leave timers their turn', async (_, readOnly) => {
  const turns = [0]
  let isRunning = true
  const countTurn = (): void => {
    turns.push(0)
    if (isRunning) setImmediate(countTurn)
  }
  let now = 0
  // A millisecond passes with every look at the clock.
  vi.spyOn(performance, 'now').mockImplementation(() => now++)
  const look = defineTool({
    name: 'look',
    description: '',
    inputSchema: z.object({}),
    annotations: { readOnly },
    execute: async () => void (turns[turns.length - 1]! += 1),
  })
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [look] })
  const many = calls(...Array.from({ length: 200 }, () => ['look'] as const))
  const { executor } = createHarness([many, say('Done.')])
  setImmediate(countTurn)
  const result = await (await executor.execute(agent, 'Go.')).result()
  isRunning = false
  vi.restoreAllMocks()
  expect(result.status).toBe('completed')
  expect(turns.reduce((sum, count) => sum + count, 0)).toBe(200)
  expect(Math.max(...turns)).toBeLessThanOrEqual(16)
})
