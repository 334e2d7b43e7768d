// What an adapter answers is outside input: bounded, checked once, and never in the way of reading.
import {
  defineAgent,
  defineTool,
  type MockStep,
  ModelError,
  type StepResult,
} from '@helix-agents/core'
import { contentLimits } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  add,
  agentWith,
  calls,
  createHarness,
  say,
  storedMessages,
  textOfResult,
} from './harness.ts'

const { maxCharacters, maxDepth, maxIdCharacters, maxToolCalls } = contentLimits
const TOO_LONG = 'x'.repeat(maxCharacters + 1)

/** What an adapter in plain JavaScript may answer. */
function anyStep(answer: unknown): MockStep {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is the point
  return () => answer as StepResult
}

function deep(levels: number): unknown {
  let value: unknown = 0
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

async function run(steps: readonly MockStep[], agent = agentWith(add)) {
  const harness = createHarness(steps)
  const handle = await harness.executor.execute(agent, 'Go.', { sessionId: 's' })
  return { harness, result: await handle.result() }
}

test.each([
  ['a text', say(TOO_LONG)],
  ['thinking', { ...say('x'), thinking: TOO_LONG }],
  ['metadata that is nested too deeply', { ...say('x'), providerMetadata: deep(5000) }],
  ['a text beside calls', { ...calls(['add', { a: 1, b: 1 }]), content: TOO_LONG }],
  ['an output', { type: 'structured_output', output: deep(5000) }],
  ['a number of calls', calls(...Array.from({ length: maxToolCalls + 1 }, () => ['add'] as const))],
])('%s over the limits ends the run, and stores nothing of it', async (_, answer) => {
  const { harness, result } = await run([anyStep(answer)])
  expect(result).toMatchObject({ status: 'failed', error: { code: 'answer-too-large' } })
  expect(await storedMessages(harness)).toHaveLength(1)
})

test.each([3000, 200_000])('arguments of %d nested arrays: the model is told', async (levels) => {
  const { harness, result } = await run([calls(['add', { a: deep(levels), b: 1 }]), say('Well.')])
  expect(result).toMatchObject({ status: 'completed', output: 'Well.' })
  const messages = await storedMessages(harness)
  expect(messages[1]).toMatchObject({
    toolCalls: [{ name: 'add', arguments: {}, problem: 'too-deep' }],
  })
  expect(textOfResult(messages[2])).toContain(`nested more than ${maxDepth} levels deep`)
  expect(messages[2]).toMatchObject({ isError: true })
})

test('arguments that are too large are not run, and the others of the step are', async () => {
  const { harness } = await run([
    calls(['add', { a: 1, b: 1 }], ['add', { a: TOO_LONG, b: 1 }]),
    say('Well.'),
  ])
  const [, , good, bad] = await storedMessages(harness)
  expect([textOfResult(good), textOfResult(bad)]).toEqual([
    '2',
    expect.stringContaining(`larger than ${maxCharacters} characters`),
  ])
})

test.each([
  ['without a name', { id: 'a', arguments: {} }],
  ['with an empty name', { id: 'a', name: '', arguments: {} }],
  ['with a name that is no text', { id: 'a', name: 7, arguments: {} }],
  [
    'with a name that is too long',
    { id: 'a', name: 'x'.repeat(maxIdCharacters + 1), arguments: {} },
  ],
  ['with an id that is no text', { id: 7, name: 'add', arguments: {} }],
  ['that is none', null],
  ['that is a hole in the list', undefined],
])('a call %s is asked for again', async (_, call) => {
  const { harness, result } = await run([
    anyStep({ type: 'tool_calls', toolCalls: call === undefined ? Array(1) : [call] }),
    say('Well.'),
  ])
  expect(result).toMatchObject({ status: 'completed', output: 'Well.' })
  expect(await storedMessages(harness)).toHaveLength(2)
})

test.each([
  ['content that is no text', { type: 'text', content: 7, shouldStop: true }],
  ['no content', { type: 'text', shouldStop: true }],
  ['thinking that is no text', { ...say('x'), thinking: {} }],
  ['nothing', undefined],
  [
    'a step that cannot be read',
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
      },
    ),
  ],
])('an answer with %s ends the run', async (_, answer) => {
  const { harness, result } = await run([anyStep(answer)])
  expect(result).toMatchObject({ status: 'failed', error: { code: 'model-failed' } })
  expect(await storedMessages(harness)).toHaveLength(1)
})

test('an id that no store takes is replaced', async () => {
  const toolCalls = [{ id: 'x'.repeat(3_000_000), name: 'add', arguments: { a: 1, b: 1 } }]
  const { harness } = await run([{ type: 'tool_calls', toolCalls }, say('Well.')])
  const [, , message] = await storedMessages(harness)
  expect(message).toMatchObject({ toolCallId: 'call_0', content: '2' })
})

test('a stream without an end is stopped by the error that its callback throws', async () => {
  let written = 0
  const { result } = await run([
    ({ callbacks }) => {
      for (; written < 400; written++) callbacks.onTextDelta?.('x'.repeat(1_000_000))
      return say('')
    },
  ])
  expect(result).toMatchObject({ status: 'failed', error: { code: 'answer-too-large' } })
  expect(written).toBe(Math.floor(maxCharacters / 1_000_000))
})

test('a state over the limits is refused to the tool, and stays as it was', async () => {
  const grow = defineTool({
    name: 'grow',
    description: 'Grows.',
    inputSchema: z.object({ levels: z.number() }),
    execute: ({ levels }, context) => {
      context.updateState<{ list?: unknown[] }>((draft) => {
        draft.list = [...(draft.list ?? []), levels > 0 ? deep(levels) : 'x'.repeat(3_000_000)]
      })
      return 'grown'
    },
  })
  const steps = [0, 0, 0, 5000].map((levels) => calls(['grow', { levels }]))
  const { harness } = await run([...steps, say('Well.')], agentWith(grow))
  const results = (await storedMessages(harness)).filter(({ role }) => role === 'tool')
  expect(results.map((message) => textOfResult(message).slice(0, 5))).toEqual([
    'grown',
    'grown',
    ...['Error', 'Error'].map((text) => expect.stringContaining(text)),
  ])
  const state = (await harness.store.loadSession('s'))?.customState
  expect(JSON.stringify(state)).toHaveLength(6_000_000 + '{"list":["",""]}'.length)
})

/** A tool whose result reads as given. */
function toolOf(name: string, output: unknown) {
  return defineTool({
    name,
    description: 'Gives.',
    inputSchema: z.object({}),
    execute: () => 'x',
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is the point
    toModelOutput: () => output as string,
  })
}

test('a result over the limits, or of a shape that no model reads, is left out', async () => {
  const text = { type: 'text', text: TOO_LONG }
  const agent = agentWith(toolOf('large', [text]), toolOf('number', 7), toolOf('none', undefined))
  const { harness } = await run([calls(['large'], ['number'], ['none']), say('Well.')], agent)
  const results = (await storedMessages(harness)).filter(({ role }) => role === 'tool')
  expect(results.map(textOfResult)).toEqual([
    expect.stringContaining('its result is larger than'),
    '(the call succeeded; its result cannot be shown)',
    '(the call succeeded; its result cannot be shown)',
  ])
})

test('what the user says is bounded, and refused before the run', async () => {
  const { executor } = createHarness([])
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
  const metadata = { value: deep(5000) as never }
  for (const message of [TOO_LONG, { role: 'user', content: '', metadata } as const]) {
    const started = executor.execute(agent, { message }, { sessionId: 's' })
    await expect(started).rejects.toMatchObject({ code: 'invalid-message' })
  }
  const sessionId = 'x'.repeat(3_000_000)
  await expect(executor.execute(agent, 'Go.', { sessionId })).rejects.toMatchObject({
    code: 'not-storable',
  })
})

test('the error says that the answer was too large', () => {
  expect(new ModelError('answer-too-large').retryable).toBe(false)
})

test.each([
  [
    'fields of one object',
    Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`f${i}`, i])),
  ],
  ['items', { a: Array.from({ length: 500_000 }, () => 1), b: 1 }],
])('too many %s in arguments: the model is told, and no schema sees them', async (_, given) => {
  const { harness, result } = await run([calls(['add', given]), say('Well.')])
  expect(result).toMatchObject({ status: 'completed', output: 'Well.' })
  const messages = await storedMessages(harness)
  expect(textOfResult(messages[2])).toContain('The arguments have more than 4096 fields')
})
