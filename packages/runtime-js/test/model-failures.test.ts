import { type LLMAdapter, ModelError, type StepInput, type StepResult } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import {
  add,
  agentWith,
  calls,
  chunksOf,
  createHarness,
  say,
  storedMessages,
  textOfResult,
} from './harness.ts'

const failing = (error: unknown, shouldStop = true): StepResult => ({
  type: 'error',
  error,
  shouldStop,
})

test('a run that the model failed ends with the code of the model error', async () => {
  const error = new ModelError('unauthorized', { statusCode: 401 })
  const { executor } = createHarness([failing(error)])
  const handle = await executor.execute(agentWith(), 'Go.', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({
    status: 'failed',
    error: { code: 'unauthorized', cause: error },
  })
  expect((await chunksOf(handle)).at(-1)).toMatchObject({ type: 'error', code: 'unauthorized' })
})

test('a retry of the adapter is told to the stream and the log', async () => {
  const error = new ModelError('overloaded', { statusCode: 529 })
  const { executor, logger } = createHarness([
    ({ callbacks }) => {
      callbacks.onTextDelta?.('Once')
      callbacks.onRetry?.({ error, attempt: 1, delayMs: 1_400, discardsOutput: true })
      return say('Twice.')
    },
  ])
  const handle = await executor.execute(agentWith(), 'Go.')
  const chunks = await chunksOf(handle)
  expect(chunks.map(({ type }) => type)).toEqual([
    'text_delta',
    'model_retry',
    'text_delta',
    'output',
  ])
  expect(chunks[1]).toMatchObject({
    code: 'overloaded',
    attempt: 1,
    delayMs: 1_400,
    discardsOutput: true,
  })
  expect(chunks[2]).toMatchObject({ delta: 'Twice.' })
  expect(logger.with('retrying model call')).toHaveLength(1)
})

test('an adapter that asks for another step gets it, after the time that it names', async () => {
  const clock = new ManualClock()
  const busy = new ModelError('rate-limited', { retryAfterMs: 5_000 })
  const { executor } = createHarness([failing(busy, false), say('There.')], { clock })
  const handle = await executor.execute(agentWith(), 'Go.')
  const chunks = chunksOf(handle)
  await clock.advance(4_999)
  expect(clock.pendingTimers).toBeGreaterThan(0)
  await clock.advance(1)
  expect(await handle.result()).toMatchObject({ status: 'completed', output: 'There.' })
  expect(await chunks).toMatchObject([
    { type: 'model_retry', attempt: 1, delayMs: 5_000, discardsOutput: true },
    { type: 'text_delta' },
    { type: 'output' },
  ])
})

test('an abort ends the wait for another step', async () => {
  const busy = new ModelError('rate-limited', { retryAfterMs: 5_000 })
  const clock = new ManualClock()
  const { executor } = createHarness([failing(busy, false)], { clock })
  const handle = await executor.execute(agentWith(), 'Go.')
  await clock.advance(1)
  await handle.abort()
  expect(await handle.result()).toMatchObject({ status: 'aborted' })
})

test('the arguments that a model writes are streamed', async () => {
  const { executor } = createHarness([
    ({ callbacks }) => {
      callbacks.onToolInput?.({ toolCallId: 'a', toolName: 'add', delta: '{"a":1,' })
      callbacks.onToolInput?.({ toolCallId: 'a', toolName: 'add', delta: '"b":2}' })
      return calls(['add', { a: 1, b: 2 }])
    },
    say('3'),
  ])
  const handle = await executor.execute(agentWith(add), 'Add.')
  const chunks = await chunksOf(handle)
  expect(chunks.slice(0, 3)).toMatchObject([
    { type: 'tool_input_delta', toolCallId: 'a', toolName: 'add', delta: '{"a":1,' },
    { type: 'tool_input_delta', delta: '"b":2}' },
    { type: 'tool_start' },
  ])
})

test.each([
  ['malformed', 'not valid JSON'],
  ['truncated', 'cut off'],
] as const)('a %s call goes back to the model, and the run goes on', async (problem, words) => {
  const bad = { id: 'a', name: 'add', arguments: '{"a": 1, "b', problem }
  const good = { id: 'b', name: 'add', arguments: { a: 1, b: 2 } }
  const harness = createHarness([{ type: 'tool_calls', toolCalls: [bad, good] }, say('Done.')])
  const handle = await harness.executor.execute(agentWith(add), 'Add.', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'completed', output: 'Done.' })
  const [, , refused, done] = await storedMessages(harness)
  expect(refused).toMatchObject({ role: 'tool', toolCallId: 'a', isError: true })
  expect(textOfResult(refused)).toContain('[invalid-input]')
  expect(textOfResult(refused)).toContain(words)
  expect(done).toMatchObject({ toolCallId: 'b', content: '3' })
})

test('what an adapter wants back with its message comes back, also after a restart', async () => {
  const providerMetadata = { provider: 'p', parts: [{ signature: 'x' }] }
  const first = createHarness([
    { ...calls(['add', { a: 1, b: 2 }]), providerMetadata } as StepResult,
  ])
  const handle = await first.executor.execute(agentWith(add), 'Add.', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'failed' })
  const seen: StepInput[] = []
  const adapter: LLMAdapter = {
    generateStep: async (input) => {
      seen.push(input)
      return say('3')
    },
  }
  const next = createHarness([], { ...first, adapter })
  await (await next.executor.resume(agentWith(add), 's')).result()
  expect(seen[0]?.messages[1]).toMatchObject({ role: 'assistant', providerMetadata })
})

test('a run does not wait for hours: it ends, and can be resumed', async () => {
  const busy = new ModelError('rate-limited', { retryAfterMs: 1e12 })
  const { executor } = createHarness([failing(busy, false)])
  const handle = await executor.execute(agentWith(), 'Go.', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ error: { code: 'rate-limited' } })
})

test('an answer that is cut off at the limit of tokens is one, and says so', async () => {
  const cut: StepResult = { ...say('It was a'), stopReason: 'length' }
  const harness = createHarness([cut])
  const handle = await harness.executor.execute(agentWith(), 'Go.', { sessionId: 's' })
  const result = await handle.result()
  expect(result).toMatchObject({ status: 'completed', output: 'It was a', isCutOff: true })
  expect((await storedMessages(harness)).at(-1)).toMatchObject({ isCutOff: true })
  expect(harness.logger.with('the answer is cut off at the limit of tokens')).toHaveLength(1)
  const next = harness.next([say(' dark night.')])
  const rest = await (
    await next.executor.execute(agentWith(), 'Go on.', { sessionId: 's' })
  ).result()
  expect(rest).not.toHaveProperty('isCutOff')
})
