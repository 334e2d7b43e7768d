// What somebody writes who uses the library for the first time is answered with a sentence.
import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'

const store = new InMemoryStateStore()
const streams = new InMemoryStreamManager()
const model = new MockLLMAdapter([])

describe('an executor', () => {
  test.each([
    [{}, 'give a list such as [new InMemoryWorkspaceProvider()]'],
    [{ 'in-memory': new InMemoryWorkspaceProvider() }, 'give a list such as'],
    [new InMemoryWorkspaceProvider(), 'give a list such as'],
    ['in-memory', 'give a list such as'],
    [[InMemoryWorkspaceProvider], '0 is a class or a function'],
    [['in-memory'], '0 is no provider'],
    [[undefined], '0 is no provider'],
    [[{ providerId: 'x' }], '0 is no provider'],
    [new Map([['in-memory', InMemoryWorkspaceProvider]]), 'in-memory is a class'],
    [new Map([['in-memory', {}]]), 'in-memory is no provider'],
  ])('with workspaceProviders: %o', (workspaceProviders, sentence) => {
    const options = { workspaceProviders: workspaceProviders as never }
    const make = () => new JSAgentExecutor(store, streams, model, options)
    expect(make).toThrow(sentence)
    expect(make).toThrow(expect.objectContaining({ code: 'config-invalid' }))
  })

  test.each([
    [[streams, store, model], 'the first argument must be a state store'],
    [[undefined, streams, model], 'the first argument must be a state store'],
    [[store, model, streams], 'the second argument must be a stream manager'],
    [[store, streams], 'the third argument must be a model adapter'],
    [[store, streams, 'openai/gpt'], 'models stand in llmConfig'],
    [[store, streams, {}], 'the third argument must be a model adapter'],
    [[InMemoryStateStore, streams, model], 'the first argument must be a state store'],
  ])('of wrong parts, %#', (parts, sentence) => {
    expect(() => Reflect.construct(JSAgentExecutor, parts)).toThrow(sentence)
  })

  test.each([['Hello'], [undefined], [{ name: 'a', llmConfig: { model: 'm' } }]])(
    'that is to run %o',
    async (agent) => {
      const executor = new JSAgentExecutor(store, streams, model)
      const run = executor.execute(agent as never, 'Hello')
      await expect(run).rejects.toThrow('an agent that defineAgent has made')
    },
  )
})

test('what is right is taken', () => {
  const provider = new InMemoryWorkspaceProvider()
  for (const workspaceProviders of [[provider], new Map([['in-memory', provider]])]) {
    expect(new JSAgentExecutor(store, streams, model, { workspaceProviders })).toBeDefined()
  }
  expect(defineAgent({ name: 'a', llmConfig: { model: 'm' } }).tools).toEqual([])
})
