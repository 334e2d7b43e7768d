import {
  defineAgent,
  fitContext,
  type Message,
  type MockStep,
  ModelError,
  type PrepareStep,
  type StepInput,
  type StepResult,
} from '@helix-agents/core'
import type { StepCallbacks } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { add, calls, chunksOf, createHarness, say, storedMessages } from './harness.ts'

const adding = calls(['add', { a: 1, b: 2 }])

function agentWith(prepareStep?: PrepareStep) {
  const base = { name: 'worker', llmConfig: { model: 'm' }, tools: [add], systemPrompt: 'Add.' }
  return defineAgent(prepareStep === undefined ? base : { ...base, prepareStep })
}

/** A script that keeps what it was asked. */
function recorded(steps: readonly MockStep[]) {
  const seen: (StepInput & { readonly count: number })[] = []
  const script = steps.map((step): MockStep => (input) => {
    seen.push({ ...input, messages: [...input.messages], count: input.messages.length })
    return typeof step === 'function' ? step(input) : step
  })
  return { seen, script }
}

test('a hook changes what the model gets, and nothing that is stored', async () => {
  const { seen, script } = recorded([adding, say('Done.')])
  const harness = createHarness(script)
  const agent = agentWith(({ stepCount, lastUsage, messages }) => ({
    systemPrompt: `Step ${stepCount}, ${String(lastUsage?.totalTokens)}.`,
    config: { model: 'other', temperature: 0 },
    tools: stepCount === 0 ? ['add'] : [],
    messages: messages.slice(0, 1),
  }))
  const handle = await harness.executor.execute(agent, 'Go.', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'completed' })
  expect(
    seen.map(({ systemPrompt, config, tools, count }) => [
      systemPrompt,
      config.model,
      tools.length,
      count,
    ]),
  ).toEqual([
    ['Step 0, undefined.', 'other', 1, 1],
    ['Step 1, undefined.', 'other', 0, 1],
  ])
  expect(await storedMessages(harness)).toHaveLength(4)
})

test('a hook may not cut a call from its result', async () => {
  const { seen, script } = recorded([adding, say('Done.')])
  const agent = agentWith(({ messages }) => ({ messages: messages.slice(-1) }))
  const handle = await createHarness(script).executor.execute(agent, 'Go.')
  await handle.result()
  expect(seen.map(({ count }) => count)).toEqual([1, 0])
})

test('a hook that fails ends the run', async () => {
  const agent = agentWith(() => Promise.reject(new Error('no')))
  const handle = await createHarness([say('Done.')]).executor.execute(agent, 'Go.')
  expect(await handle.result()).toMatchObject({ status: 'failed', error: { code: 'model-failed' } })
})

test('fitContext keeps the conversation of a long run short', async () => {
  const steps = Array.from({ length: 30 }, () => adding)
  const { seen, script } = recorded([...steps, say('Done.')])
  const agent = agentWith(fitContext({ maxTokens: 20, keepTokens: 10, estimate: () => 1 }))
  const harness = createHarness(script)
  const handle = await harness.executor.execute(agent, 'Go.', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'completed' })
  expect(Math.max(...seen.map(({ count }) => count))).toBeLessThanOrEqual(21)
  expect(await storedMessages(harness)).toHaveLength(62)
})

const tooLong: StepResult = {
  type: 'error',
  error: new ModelError('context-length'),
  shouldStop: true,
}

test('without a hook the oldest steps are left out once the model refuses their length', async () => {
  const steps = Array.from({ length: 10 }, () => adding)
  const { seen, script } = recorded([...steps, tooLong, tooLong, adding, say('Done.')])
  const harness = createHarness(script)
  const handle = await harness.executor.execute(agentWith(), 'Go.', { sessionId: 's' })
  const chunks = await chunksOf(handle)
  expect(await handle.result()).toMatchObject({ status: 'completed', output: 'Done.' })
  const counts = seen.slice(10).map(({ count }) => count)
  expect(counts[0]).toBe(21)
  expect(counts[1]).toBeLessThan(14)
  expect(counts[2]).toBeLessThan(counts[1] ?? 0)
  expect(counts[3]).toBeLessThan(14)
  const kept = seen.at(-1)?.messages ?? []
  expect(kept[0]).toMatchObject({ content: 'Go.' })
  expect(openCallsIn(kept)).toEqual([])
  expect(chunks.filter(({ type }) => type === 'model_retry')).toMatchObject([
    { code: 'context-length', delayMs: 0, discardsOutput: false },
    { code: 'context-length', attempt: 2 },
  ])
})

test.each<[string, (callbacks: StepCallbacks) => void]>([
  ['text', (callbacks) => callbacks.onTextDelta?.('a')],
  ['thinking', (callbacks) => callbacks.onThinking?.('a', false)],
  [
    'arguments of a tool',
    (callbacks) => callbacks.onToolInput?.({ toolCallId: 'a', toolName: 'add', delta: '{' }),
  ],
])('readers drop %s of a model that then refuses the length', async (_what, emit) => {
  const refusing: MockStep = ({ callbacks }) => {
    emit(callbacks)
    return tooLong
  }
  const { executor } = createHarness([adding, adding, adding, refusing, say('Done.')])
  const handle = await executor.execute(agentWith(), 'Go.')
  const chunks = await chunksOf(handle)
  expect(chunks.filter(({ type }) => type === 'model_retry')).toMatchObject([
    { code: 'context-length', discardsOutput: true },
  ])
})

test('a conversation that cannot be shorter fails', async () => {
  const { executor } = createHarness([tooLong, tooLong])
  const handle = await executor.execute(agentWith(), 'Go.')
  expect(await handle.result()).toMatchObject({
    status: 'failed',
    error: { code: 'context-length' },
  })
})

function openCallsIn(messages: readonly Message[]): readonly string[] {
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'assistant') message.toolCalls?.forEach(({ id }) => open.add(id))
    if (message.role === 'tool') open.delete(message.toolCallId)
  }
  return [...open]
}
