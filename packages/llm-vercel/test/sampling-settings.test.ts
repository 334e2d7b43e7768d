// What an agent says about sampling comes to the model as it was said, and nothing else does.
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { LLMConfig } from '@helix-agents/core'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { expect, test } from 'vitest'

const settings = {
  maxOutputTokens: 100,
  temperature: 0,
  topP: 0.9,
  topK: 40,
  presencePenalty: -0.5,
  frequencyPenalty: 0.25,
  stopSequences: ['END', '\n\n'],
  seed: 7,
} satisfies Omit<LLMConfig, 'model'>

const names = Object.keys(settings) as (keyof typeof settings)[]

/** The options that a model is called with. */
async function optionsFor(config: Omit<LLMConfig, 'model'>): Promise<LanguageModelV4CallOptions> {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  }
  const parts: LanguageModelV4StreamPart[] = [
    { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
  ]
  const model = new MockLanguageModelV4({
    doStream: async () => ({ stream: convertArrayToReadableStream(parts) }),
  })
  await new VercelAIAdapter().generateStep({
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [],
    config: { model, ...config },
    abortSignal: new AbortController().signal,
    callbacks: {},
    agentId: 'run',
    agentType: 'agent',
  })
  const [options] = model.doStreamCalls
  if (options === undefined) throw new Error('the model was not called')
  return options
}

test('all settings together', async () => {
  expect(await optionsFor(settings)).toMatchObject(settings)
})

test.each(names)('`%s` alone', async (name) => {
  const options = await optionsFor({ [name]: settings[name] })
  const given = names.filter((each) => options[each] !== undefined)
  expect(given).toEqual([name])
  expect(options[name]).toEqual(settings[name])
})
