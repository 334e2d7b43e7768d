// What readers and logs hear of the calls of a model, and how a run ends that has used up its means.
import {
  type Budget,
  costByPrices,
  defineAgent,
  defineTool,
  type LLMAdapter,
  type MockStep,
  ModelError,
  type StepResult,
} from '@helix-agents/core'
import { createRecordingMetrics, ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  agentWith,
  calls,
  chunksOf,
  createHarness,
  say,
  settle,
  storedMessages,
} from '../harness.ts'

const plain = agentWith()
const shown = async (steps: readonly MockStep[], agent = plain) => {
  const harness = createHarness(steps)
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await handle.result()
  const chunks = (await chunksOf(handle)).map((chunk) => {
    const { type, ...fields } = chunk
    const own = ['agentId', 'agentType', 'sequence', 'timestamp']
    return Object.fromEntries([
      ['type', type],
      ...Object.entries(fields).filter(([name]) => !own.includes(name)),
    ])
  })
  return { ...harness, handle, chunks }
}
const output = (text: string) => ({ type: 'output', output: text })
test('thinking is streamed as it comes', async () => {
  const adapter: LLMAdapter = {
    generateStep: async ({ callbacks }) => {
      callbacks.onThinking?.('hm', false)
      callbacks.onThinking?.('hm', true)
      return { ...say('so'), thinking: 'hm' }
    },
  }
  const handle = await createHarness([], { adapter }).executor.execute(plain, 'Go')
  await handle.result()
  expect((await chunksOf(handle)).filter(({ type }) => type === 'thinking')).toMatchObject([
    { content: 'hm', isComplete: false },
    { content: 'hm', isComplete: true },
  ])
})

test('what an adapter does not stream is told with its answer', async () => {
  const adapter = { generateStep: async () => ({ ...say('so'), thinking: 'hm' }) }
  const { executor } = createHarness([], { adapter })
  const handle = await executor.execute(plain, 'Go', { sessionId: 's' })
  await handle.result()
  expect(await chunksOf(handle)).toMatchObject([
    { type: 'thinking', content: 'hm', isComplete: true },
    { type: 'text_delta', delta: 'so' },
    output('so'),
  ])
  const silent = { generateStep: async () => say('') }
  const other = await createHarness([], { adapter: silent }).executor.execute(plain, 'Go')
  await other.result()
  expect(await chunksOf(other)).toMatchObject([output('')])
})

test('after a retry of the adapter an answer that was streamed before it is told again', async () => {
  const error = new ModelError('overloaded')
  let isFirst = true
  const adapter: LLMAdapter = {
    generateStep: async ({ callbacks }) => {
      if (isFirst) {
        isFirst = false
        callbacks.onTextDelta?.('half')
        callbacks.onThinking?.('h', false)
        callbacks.onRetry?.({ error, attempt: 1, delayMs: 7, discardsOutput: true })
      }
      return { ...say('whole'), thinking: 'hm' }
    },
  }
  const { executor, logger } = createHarness([], { adapter })
  const handle = await executor.execute(plain, 'Go', { sessionId: 's' })
  await handle.result()
  expect((await chunksOf(handle)).map(({ type }) => type)).toEqual([
    'text_delta',
    'thinking',
    'model_retry',
    'thinking',
    'text_delta',
    'output',
  ])
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      message: 'retrying model call',
      fields: { err: error, sessionId: 's', runId: handle.runId, attempt: 1, delayMs: 7 },
    },
  ])
})

test('a run that was stopped says nothing more of what its model still tells', async () => {
  const live: { abort?: () => Promise<void> } = {}
  const late: MockStep = async ({ callbacks }) => {
    await settle()
    await live.abort?.()
    callbacks.onTextDelta?.('late')
    callbacks.onThinking?.('late', false)
    callbacks.onToolInput?.({ toolCallId: 'a', toolName: 'x', delta: '{' })
    const error = new ModelError('overloaded')
    callbacks.onRetry?.({ error, attempt: 1, delayMs: 0, discardsOutput: true })
    return say('')
  }
  const { executor, logger } = createHarness([late])
  const handle = await executor.execute(plain, 'Go', { sessionId: 's' })
  live.abort = () => handle.abort()
  expect((await handle.result()).status).toBe('aborted')
  expect(await chunksOf(handle)).toEqual([])
  expect(logger.with('retrying model call')).toEqual([])
})

test('what a tool tells while it works is on the stream', async () => {
  const tool = defineTool({
    name: 'tell',
    description: '',
    inputSchema: z.object({}),
    execute: (_, context) => {
      context.emit('mine', { n: 1 })
      const progress = Reflect.get(context, 'progress') as (...given: unknown[]) => void
      Reflect.apply(progress, context, ['stderr', 'half'])
    },
  })
  const { chunks } = await shown([calls(['tell']), say('done')], agentWith(tool))
  expect(chunks.slice(1, 3)).toEqual([
    { type: 'custom', eventName: 'mine', data: { n: 1 } },
    { type: 'tool_progress', toolCallId: 'a', toolName: 'tell', output: 'stderr', text: 'half' },
  ])
})

const usage = { inputTokens: 60, outputTokens: 40 }
/** For the definition of the agent, and none for a call. */
const prices = [1]
const costOf = costByPrices({ m: { input: 1_000_000, output: 1_000_000 } })

test.each<readonly [Budget, string, string]>([
  [{ maxTotalTokens: 1 }, 'max-tokens', 'the budget is exhausted: 100 tokens in 1 model calls'],
  [{ maxCost: 1, costOf }, 'max-cost', 'the budget is exhausted: a cost of 100 in 1 model calls'],
  [
    { maxCost: 1, costOf: () => prices.pop() ?? Number.NaN },
    'cost-unknown',
    'budget.maxCost is set, but costOf() returned no price for a model call',
  ],
])('a run that has used up %o says: %s', async (budget, code, message) => {
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'm' }, budget })
  const { executor } = createHarness([{ ...say('one', false), usage }, say('two')])
  const result = await (await executor.execute(agent, 'Go')).result()
  expect(result).toMatchObject({ status: 'failed', error: { code, message } })
})

test('a run without an end says how far it went', async () => {
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, maxSteps: 2 })
  const { executor } = createHarness([say('1', false), say('2', false), say('3')])
  expect(await (await executor.execute(agent, 'Go')).result()).toMatchObject({
    error: { code: 'max-steps', message: 'the agent did not end within 2 steps' },
  })
  const clock = new ManualClock()
  const timed = defineAgent({ name: 'a', llmConfig: { model: {} }, maxDurationMs: 500 })
  const slow = createHarness([() => new Promise<never>(() => {})], { clock })
  const handle = await slow.executor.execute(timed, 'Go')
  await settle()
  await clock.advance(500)
  expect(await handle.result()).toMatchObject({
    error: { code: 'max-duration', message: 'the agent did not end within 500 ms' },
  })
  expect(clock.pendingTimers).toBe(0)
})

test('an agent that does not give its output is reminded twice, which is stored', async () => {
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, outputSchema: z.object({}) })
  const harness = createHarness([say('1'), say('2'), say('3'), say('4')])
  const result = await (await harness.executor.execute(agent, 'Go', { sessionId: 's' })).result()
  expect(result).toMatchObject({
    stepCount: 3,
    error: { code: 'output-missing', message: 'the agent ended without giving its output' },
  })
  const reminder = 'Give the final result by calling the tool __finish__.'
  const contents = (await storedMessages(harness)).map(({ content }) => content)
  expect(contents).toEqual(['Go', '1', reminder, '2', reminder, '3'])
  expect(await harness.store.loadSession('s')).toMatchObject({ status: 'failed', stepCount: 3 })
})

test('an output that is given as such is checked and stored with its step', async () => {
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    outputSchema: z.object({ n: z.number().default(7) }),
  })
  const given: StepResult = { type: 'structured_output', output: {} }
  const harness = createHarness([given])
  const result = await (await harness.executor.execute(agent, 'Go', { sessionId: 's' })).result()
  expect(result).toMatchObject({ status: 'completed', output: { n: 7 }, stepCount: 1 })
  expect(await storedMessages(harness)).toHaveLength(2)
  const bad = createHarness([{ type: 'structured_output', output: { n: 'x' } }])
  expect(await (await bad.executor.execute(agent, 'Go')).result()).toMatchObject({
    error: {
      code: 'output-invalid',
      message: expect.stringMatching(/^the output does not match its schema: ./),
    },
  })
})

test('metrics that are broken are told once, with why', async () => {
  const err = new Error('no registry')
  const broken = Object.fromEntries(
    Object.keys(createRecordingMetrics()).map((name) => [
      name,
      () => {
        throw err
      },
    ]),
  )
  const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, workspaces: { box } })
  const steps = [calls(['workspace__box__ls', {}]), say('done')]
  const { executor, logger } = createHarness(steps, {
    metrics: broken as never,
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  await (await executor.execute(agent, 'Go')).result()
  expect(logger.with('metrics are broken')).toEqual([
    { level: 'error', message: 'metrics are broken', fields: { err } },
  ])
})
