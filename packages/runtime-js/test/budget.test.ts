import {
  type Budget,
  costByPrices,
  createSubAgentTool,
  defineAgent,
  defineTool,
  type MockStep,
  type StepResult,
} from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import * as z from 'zod'
import { expect, test } from 'vitest'
import { add, calls, createHarness, gate, say } from './harness.ts'

const usage = { inputTokens: 60, outputTokens: 40 }
const adding: StepResult = { ...calls(['add', { a: 1, b: 2 }]), usage }
const forever: readonly MockStep[] = Array.from({ length: 20 }, () => adding)

function agentWithin(budget: Budget, ...tools: ReturnType<typeof defineTool>[]) {
  return defineAgent({ name: 'worker', llmConfig: { model: 'm' }, tools: [add, ...tools], budget })
}

test.each([
  [{ maxTotalTokens: 250 }, 'max-tokens'],
  [{ maxOutputTokens: 120 }, 'max-tokens'],
  [{ maxInputTokens: 180 }, 'max-tokens'],
  [{ maxCost: 0.0003, costOf: costByPrices({ m: { input: 1, output: 1 } }) }, 'max-cost'],
] as const)('a run ends when it has used %o', async (budget, code) => {
  const { executor, store } = createHarness(forever)
  const handle = await executor.execute(agentWithin(budget), 'Add.', { sessionId: 's' })
  const result = await handle.result()
  expect(result).toMatchObject({ status: 'failed', error: { code }, stepCount: 3 })
  expect(result.usage).toMatchObject({ totalTokens: 300, modelCalls: 3 })
  expect(await store.loadSession('s')).toMatchObject({
    error: { code },
    usage: { inputTokens: 180, outputTokens: 120 },
  })
})

test('a run that is done has not failed, whatever it used', async () => {
  const { executor } = createHarness([{ ...say('Done.'), usage }])
  const handle = await executor.execute(agentWithin({ maxTotalTokens: 1 }), 'Go.')
  expect(await handle.result()).toMatchObject({ status: 'completed' })
})

test('a budget holds across processes, and the next turn has its own', async () => {
  const agent = agentWithin({ maxTotalTokens: 250 })
  const first = createHarness([adding, adding])
  const failed = await first.executor.execute(agent, 'Add.', { sessionId: 's' })
  expect(await failed.result()).toMatchObject({ error: { code: 'model-failed' } })
  const second = first.next(forever)
  const resumed = await second.executor.resume(agent, 's')
  expect(await resumed.result()).toMatchObject({
    error: { code: 'max-tokens' },
    stepCount: 3,
    usage: { totalTokens: 300 },
  })
  const again = await second.executor.resume(agent, 's')
  expect(await again.result()).toMatchObject({ error: { code: 'max-tokens' }, stepCount: 3 })
  const third = first.next([{ ...say('Fresh.'), usage }])
  const turn = await third.executor.execute(agent, 'Again.', { sessionId: 's' })
  expect(await turn.result()).toMatchObject({ output: 'Fresh.', usage: { totalTokens: 100 } })
})

test('what was used is stored before the tools of the step run', async () => {
  const hold = gate()
  const slow = defineTool({
    name: 'slow',
    description: 'Waits.',
    inputSchema: z.object({}),
    execute: () => hold.opened,
  })
  const { executor, store } = createHarness([{ ...calls(['slow']), usage }, say('Done.')])
  const handle = await executor.execute(agentWithin({}, slow), 'Go.', { sessionId: 's' })
  for await (const chunk of handle.stream()) {
    if (chunk.type === 'tool_start') break
  }
  expect((await store.loadSession('s'))?.usage).toMatchObject({ totalTokens: 100 })
  hold.open()
  await handle.result()
})

test('the time of a budget counts while a process works, and stops a step', async () => {
  const clock = new ManualClock()
  const agent = agentWithin({ maxDurationMs: 10_000 })
  const takes =
    (ms: number): MockStep =>
    async () => {
      await clock.sleep(ms)
      return adding
    }
  const first = createHarness([takes(4_000)], { clock })
  const handle = await first.executor.execute(agent, 'Add.', { sessionId: 's' })
  await clock.advance(4_000)
  await handle.result()
  await clock.advance(60_000)
  const second = first.next([takes(5_000), takes(5_000)], { clock })
  const resumed = await second.executor.resume(agent, 's')
  await clock.advance(5_999)
  await clock.advance(1)
  const result = await resumed.result()
  expect(result).toMatchObject({ status: 'failed', error: { code: 'max-duration' } })
  expect(result.usage?.durationMs).toBe(10_000)
})

test('a sub-agent uses up the budget of its parent, and stops with it', async () => {
  const child = defineAgent({
    name: 'child',
    llmConfig: { model: 'm' },
    tools: [add],
    outputSchema: z.object({}),
  })
  const tool = createSubAgentTool(child, z.object({}))
  const { executor, store } = createHarness([{ ...calls([tool.name]), usage }, ...forever])
  const parent = defineAgent({
    name: 'parent',
    llmConfig: { model: 'm' },
    tools: [tool],
    budget: { maxTotalTokens: 350 },
  })
  const handle = await executor.execute(parent, 'Go.', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({
    status: 'failed',
    error: { code: 'max-tokens' },
    usage: { totalTokens: 400, modelCalls: 4 },
  })
  const sessions = (await store.listSessions({ agentType: 'child' })).items
  expect(sessions[0]).toMatchObject({
    error: { code: 'max-tokens' },
    usage: { totalTokens: 300 },
  })
})

test('a sub-agent that was interrupted is counted once, when its parent goes on', async () => {
  const child = defineAgent({
    name: 'child',
    llmConfig: { model: 'm' },
    tools: [add],
    outputSchema: z.object({}),
  })
  const tool = createSubAgentTool(child, z.object({}))
  const parent = defineAgent({
    name: 'parent',
    llmConfig: { model: 'm' },
    tools: [tool],
    budget: {},
  })
  const held: { interrupt?: () => unknown } = {}
  const first = createHarness([
    { ...calls([tool.name]), usage },
    () => {
      held.interrupt?.()
      return adding
    },
  ])
  const handle = await first.executor.execute(parent, 'Go.', { sessionId: 's' })
  held.interrupt = () => handle.interrupt()
  expect(await handle.result()).toMatchObject({ status: 'interrupted' })
  const finish: StepResult = { ...calls(['__finish__', {}]), usage }
  const second = first.next([finish, { ...say('Done.'), usage }])
  const resumed = await second.executor.resume(parent, 's')
  expect(await resumed.result()).toMatchObject({
    status: 'completed',
    usage: { totalTokens: 400, modelCalls: 4 },
  })
})

test('a run counts its sub-agents, and without prices has no cost', async () => {
  const child = defineAgent({ name: 'child', llmConfig: { model: 'm' } })
  const tool = createSubAgentTool(child, z.object({}))
  const parent = defineAgent({ name: 'parent', llmConfig: { model: 'm' }, tools: [tool] })
  const { executor } = createHarness([
    { ...calls([tool.name]), usage },
    { ...say('Sub.'), usage },
    { ...say('Done.'), usage },
  ])
  const { usage: used } = await (await executor.execute(parent, 'Go.')).result()
  const tokens = { inputTokens: 180, outputTokens: 120, totalTokens: 300 }
  expect(used).toEqual({ ...tokens, modelCalls: 3, durationMs: expect.any(Number) })
})

const priced = { maxCost: 0.0003, costOf: costByPrices({ m: { input: 1, output: 1 } }) }

test('a sub-agent without prices is paid at those of its parent', async () => {
  const child = defineAgent({
    name: 'child',
    llmConfig: { model: 'm' },
    tools: [add],
    outputSchema: z.object({}),
  })
  const tool = createSubAgentTool(child, z.object({}))
  const parent = defineAgent({
    name: 'parent',
    llmConfig: { model: 'm' },
    tools: [tool],
    budget: priced,
  })
  const { executor } = createHarness([{ ...calls([tool.name]), usage }, ...forever])
  const handle = await executor.execute(parent, 'Go.', { sessionId: 's' })
  const result = await handle.result()
  expect(result).toMatchObject({ error: { code: 'max-cost' }, usage: { modelCalls: 3 } })
})

test('a call is paid at the price of the model that a hook chose', async () => {
  const agent = defineAgent({
    name: 'worker',
    llmConfig: { model: 'm' },
    budget: { costOf: costByPrices({ m: { input: 1, output: 1 }, big: { input: 9, output: 9 } }) },
    prepareStep: () => ({ config: { model: 'big' } }),
  })
  const { executor } = createHarness([{ ...say('Done.'), usage }])
  const { usage: used } = await (await executor.execute(agent, 'Go.')).result()
  expect(used.cost).toBeCloseTo(0.0009)
})

test.each([
  [
    'throws',
    (): number => {
      throw new Error('no table')
    },
  ],
  ['knows none', (): number => Number.NaN],
  ['gives money back', (): number => -1],
])('a run that must not cost too much ends when costOf %s', async (_, unknown) => {
  let isStarted = false
  const costOf = (): number => (isStarted ? unknown() : 0)
  const { executor, store } = createHarness(forever)
  const agent = agentWithin({ maxCost: 1, costOf })
  isStarted = true
  const handle = await executor.execute(agent, 'Go.', { sessionId: 's' })
  const result = await handle.result()
  expect(result).toMatchObject({ error: { code: 'cost-unknown' }, stepCount: 1 })
  const session = await store.loadSession('s')
  expect(session?.usage).toMatchObject({ totalTokens: 100 })
  // What is not known is not shown as nothing.
  expect(session?.usage).not.toHaveProperty('cost')
})

test('amounts that are none do not switch a limit off', async () => {
  const bad = { inputTokens: Number.NaN, outputTokens: -5, totalTokens: Infinity }
  const steps = [{ ...adding, usage: bad }, ...forever]
  const handle = await createHarness(steps).executor.execute(
    agentWithin({ maxTotalTokens: 150 }),
    'Go.',
  )
  const result = await handle.result()
  expect(result).toMatchObject({ error: { code: 'max-tokens' }, stepCount: 3 })
  expect(result.usage).toMatchObject({ inputTokens: 120, outputTokens: 80, totalTokens: 200 })
})

test('a call that failed counts for the run that resumes it', async () => {
  const lost: StepResult = { type: 'error', error: new Error('lost'), shouldStop: true, usage }
  const agent = agentWithin({ maxTotalTokens: 250 })
  const first = createHarness([adding, lost])
  await (await first.executor.execute(agent, 'Add.', { sessionId: 's' })).result()
  const second = first.next(forever)
  const result = await (await second.executor.resume(agent, 's')).result()
  expect(result).toMatchObject({ stepCount: 2, usage: { totalTokens: 300, modelCalls: 3 } })
})

const childNamed = (name: string) =>
  defineAgent({ name, llmConfig: { model: 'm' }, tools: [add], outputSchema: z.object({}) })

test('a sub-agent that ended beside one that was interrupted is counted', async () => {
  const tools = ['one', 'two'].map((name) => createSubAgentTool(childNamed(name), z.object({})))
  const parent = defineAgent({ name: 'parent', llmConfig: { model: 'm' }, tools, budget: {} })
  const finish: StepResult = { ...calls(['__finish__', {}]), usage }
  const held: { interrupt?: () => unknown } = {}
  const script: MockStep = ({ agentType }) => {
    if (agentType === 'one') return finish
    held.interrupt?.()
    return adding
  }
  const ask: StepResult = { ...calls(...tools.map(({ name }) => [name] as const)), usage }
  const first = createHarness([ask, script, script])
  const handle = await first.executor.execute(parent, 'Go.', { sessionId: 's' })
  held.interrupt = () => handle.interrupt()
  expect(await handle.result()).toMatchObject({ status: 'interrupted' })
  const second = first.next([finish, { ...say('Done.'), usage }])
  const resumed = await second.executor.resume(parent, 's')
  expect(await resumed.result()).toMatchObject({
    status: 'completed',
    usage: { totalTokens: 500, modelCalls: 5 },
  })
})
