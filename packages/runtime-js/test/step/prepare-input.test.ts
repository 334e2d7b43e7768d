// What a model gets: the whole conversation, what a hook makes of it, or less after it was too long.
import {
  defineAgent,
  estimateTokens,
  fitContext,
  type Message,
  ModelError,
  type StepDraft,
  type StepResult,
} from '@helix-agents/core'
import { expect, test, vi } from 'vitest'
import type { Run } from '../../src/ports.ts'
import { InputMaker } from '../../src/step/prepare-input.ts'

const specs = ['look', 'put'].map((name) => ({ name, description: '', inputSchema: {} }))
const user = (content: string): Message => ({ role: 'user', content })
const long = user('word '.repeat(400))
const conversation = [user('first'), ...Array.from({ length: 8 }, () => long), user('last')]
const tooLong: StepResult = {
  type: 'error',
  error: new ModelError('context-length'),
  shouldStop: true,
}

function makerOf(config: object = {}, messages: readonly Message[] = conversation) {
  const run = {
    agent: defineAgent({ name: 'a', llmConfig: { model: 'm', maxOutputTokens: 7 }, ...config }),
    messages,
    toolSet: { tools: { specs } },
    recorder: { stepCount: 3 },
    meter: { lastUsage: { inputTokens: 5 } },
    state: { current: { n: 1 } as object | undefined },
    control: { signal: new AbortController().signal },
  }
  return { run, inputs: new InputMaker(run as unknown as Run) }
}

const tokensOf = (messages: readonly Message[]) =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0)

test('without a hook it is all there is, as it is and at once', () => {
  const { run, inputs } = makerOf({ systemPrompt: 'Be kind.' })
  const made = inputs.make()
  expect(made).toEqual({
    systemPrompt: 'Be kind.',
    messages: conversation,
    tools: specs,
    config: run.agent.llmConfig,
  })
  expect(made).toMatchObject({ messages: { length: 10 } })
  expect(Object.keys(makerOf().inputs.make())).not.toContain('systemPrompt')
})

test('a prompt that is made from the state is made again when that is another one', () => {
  const systemPrompt = vi.fn<(state: object) => string>((state) => JSON.stringify(state))
  const { run, inputs } = makerOf({ systemPrompt })
  const prompt = () => (inputs.make() as { readonly systemPrompt?: string }).systemPrompt
  expect([prompt(), prompt()]).toEqual(['{"n":1}', '{"n":1}'])
  expect(systemPrompt).toHaveBeenCalledTimes(1)
  run.state.current = undefined
  expect([prompt(), prompt()]).toEqual(['{}', '{}'])
  expect(systemPrompt).toHaveBeenCalledTimes(2)
})

test('a hook sees the whole draft', async () => {
  const drafts: StepDraft[] = []
  const prepareStep = (draft: StepDraft) => void drafts.push(draft)
  const { run, inputs } = makerOf({ systemPrompt: 'Be kind.', prepareStep })
  const { llmConfig: config } = run.agent
  const whole = { systemPrompt: 'Be kind.', messages: conversation, tools: specs, config }
  expect(await inputs.make()).toEqual(whole)
  expect(drafts).toEqual([
    {
      ...whole,
      stepCount: 3,
      lastUsage: { inputTokens: 5 },
      state: { n: 1 },
      abortSignal: run.control.signal,
    },
  ])
})

test('what a hook gives replaces that, and nothing else', async () => {
  const made = async (changes: object | undefined) => {
    const { inputs } = makerOf({ systemPrompt: 'Be kind.', prepareStep: () => changes })
    const { messages, ...rest } = await inputs.make()
    return { ...rest, messages: messages === conversation ? 'all' : messages }
  }
  const whole = await made(undefined)
  expect(whole.messages).toBe('all')
  expect(await made({})).toEqual(whole)
  expect(await made({ messages: conversation })).toEqual(whole)
  expect(await made({ systemPrompt: 'Be brief.' })).toEqual({ ...whole, systemPrompt: 'Be brief.' })
  expect(await made({ config: { model: 'n' } })).toEqual({
    ...whole,
    config: { model: 'n', maxOutputTokens: 7 },
  })
  expect(await made({ tools: ['put', 'none'] })).toEqual({ ...whole, tools: [specs[1]] })
  expect(await made({ tools: [] })).toEqual({ ...whole, tools: [] })
  // A result whose call is left out goes as well.
  const orphan = { role: 'tool', toolCallId: 'a', toolName: 'look', content: 'x' } as const
  expect(await made({ messages: [user('x'), orphan] })).toEqual({ ...whole, messages: [user('x')] })
})

test('only a conversation that was too long is made shorter, and never where a hook does that', () => {
  const { inputs } = makerOf()
  const other: StepResult = { ...tooLong, error: new ModelError('overloaded') }
  expect(inputs.shorten({ type: 'text', content: 'x', shouldStop: true }, conversation)).toBe(
    undefined,
  )
  expect(inputs.shorten(other, conversation)).toBeUndefined()
  expect(inputs.shorten({ ...tooLong, error: 'context-length' }, conversation)).toBeUndefined()
  const hooked = makerOf({ prepareStep: () => undefined }).inputs
  expect(hooked.shorten(tooLong, conversation)).toBeUndefined()
  expect(inputs.shorten(tooLong, conversation)).toBe(Reflect.get(tooLong, 'error'))
})

test('of two messages nothing can be left out, of three the middle one', () => {
  expect(makerOf().inputs.shorten(tooLong, [long, long])).toBeUndefined()
  expect(makerOf().inputs.shorten(tooLong, [long, long, long])).toBeDefined()
})

test('each time it gets half as long, rounded up', async () => {
  const { run, inputs } = makerOf()
  inputs.shorten(tooLong, conversation)
  const fit = fitContext({ maxTokens: Math.ceil(tokensOf(conversation) / 2) })
  const { messages } = (await fit({ ...run, messages: conversation } as never)) ?? {}
  expect(messages?.length).toBeLessThan(conversation.length)
  expect((await inputs.make()).messages).toEqual(messages)
})

test('one that was not made shorter is not sent again, until the model takes one', () => {
  const { inputs } = makerOf()
  const three = conversation.slice(0, 3)
  expect(inputs.shorten(tooLong, three)).toBeDefined()
  expect(inputs.shorten(tooLong, three)).toBeUndefined()
  expect(inputs.shorten(tooLong, conversation)).toBeUndefined()
  inputs.accepted()
  expect(inputs.shorten(tooLong, three)).toBeDefined()
})

test('it is made shorter six times, and again so often once the model took one', () => {
  const { inputs } = makerOf()
  const lengths = Array.from({ length: 7 }, (_, index) => 10 - index)
  const tries = () =>
    lengths.map((length) => inputs.shorten(tooLong, conversation.slice(0, length)) !== undefined)
  const six = [true, true, true, true, true, true, false]
  expect(tries()).toEqual(six)
  inputs.accepted()
  expect(tries()).toEqual(six)
})
