import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { ModelError, type StepInput, type StepResult } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { VercelAIAdapter, type VercelAIAdapterOptions } from '@helix-agents/llm-vercel'
import { convertArrayToReadableStream, MockLanguageModelV3, MockLanguageModelV4 } from 'ai/test'
import { describe, expect, onTestFinished, test } from 'vitest'

const count = { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 }
const usage = { inputTokens: count, outputTokens: { total: 5, text: 5, reasoning: 0 } }
const finish: LanguageModelV4StreamPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: undefined },
  usage,
}

function inputOf(model: unknown, config: Partial<StepInput['config']> = {}): StepInput {
  return {
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [],
    config: { model, ...config },
    abortSignal: new AbortController().signal,
    callbacks: {},
    agentId: 'run',
    agentType: 'agent',
  }
}

function speaking(...parts: readonly LanguageModelV4StreamPart[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async () => ({ stream: convertArrayToReadableStream([...parts, finish]) }),
  })
}

function codeOf(result: StepResult): string {
  if (result.type !== 'error' || !ModelError.isInstance(result.error)) return result.type
  return result.error.code
}

const hello: readonly LanguageModelV4StreamPart[] = [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hello.' },
  { type: 'text-end', id: '1' },
]

describe('the model', () => {
  test('may be one of an older interface', async () => {
    const model = new MockLanguageModelV3({
      doStream: async () => ({
        stream: convertArrayToReadableStream([...hello, finish] as never[]),
      }),
    })
    const result = await new VercelAIAdapter().generateStep(inputOf(model))
    expect(result).toMatchObject({ type: 'text', content: 'Hello.' })
  })

  test('may be a name of the default provider', async () => {
    const provider = { specificationVersion: 'v4', languageModel: () => speaking(...hello) }
    Reflect.set(globalThis, 'AI_SDK_DEFAULT_PROVIDER', provider)
    onTestFinished(() => void Reflect.deleteProperty(globalThis, 'AI_SDK_DEFAULT_PROVIDER'))
    const result = await new VercelAIAdapter().generateStep(inputOf('any/model'))
    expect(result).toMatchObject({ type: 'text', content: 'Hello.' })
  })

  test.each([undefined, {}, 5, { doStream: true }])('%o is none', async (model) => {
    const result = await new VercelAIAdapter().generateStep(inputOf(model))
    expect(codeOf(result)).toBe('invalid-request')
  })
})

describe('options', () => {
  test.each<VercelAIAdapterOptions>([
    { maxRetries: -1 },
    { maxRetries: 1.5 },
    { idleTimeoutMs: 0 },
    { attemptTimeoutMs: Number.NaN },
    { maxRetryDelayMs: -5 },
  ])('%o are refused', (options) => {
    expect(() => new VercelAIAdapter(options)).toThrow(RangeError)
  })

  test('an attempt has a time of its own, however much is said', async () => {
    const clock = new ManualClock()
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          pull: async (controller) => {
            await clock.sleep(1_000)
            controller.enqueue({ type: 'text-delta', id: '1', delta: 'and ' })
          },
        }),
      }),
    })
    const adapter = new VercelAIAdapter({ clock, attemptTimeoutMs: 10_000, idleTimeoutMs: 5_000 })
    const result = adapter.generateStep(inputOf(model, { maxRetries: 0 }))
    for (let second = 0; second < 10; second += 1) await clock.advance(1_000)
    expect(codeOf(await result)).toBe('timeout')
    expect(clock.pendingTimers).toBeLessThanOrEqual(1)
  })

  test('the operator may see what a provider threw', async () => {
    const seen: unknown[] = []
    const cause = new Error('with all its words')
    const model = new MockLanguageModelV4({ doStream: () => Promise.reject(cause) })
    const adapter = new VercelAIAdapter({ onProviderError: (error) => seen.push(error) })
    await adapter.generateStep(inputOf(model))
    expect(seen).toEqual([cause])
  })

  test('a warning of a provider is told once, and without its words', async () => {
    const logger = new RecordingLogger()
    const warning = { type: 'unsupported', feature: 'seed', details: 'private' } as const
    const model = speaking({ type: 'stream-start', warnings: [warning, warning] }, ...hello)
    const adapter = new VercelAIAdapter({ logger })
    await adapter.generateStep(inputOf(model))
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { feature: 'seed' } }])
    expect(JSON.stringify(logger.lines)).not.toContain('private')
  })
})

describe('answers', () => {
  test('a call of a tool that the provider runs itself is not ours', async () => {
    const call = { type: 'tool-call', toolCallId: 'p', toolName: 'search', input: '{}' } as const
    const result = await new VercelAIAdapter().generateStep(
      inputOf(speaking({ ...call, providerExecuted: true }, ...hello)),
    )
    expect(result).toMatchObject({ type: 'text', content: 'Hello.' })
  })

  test('the tokens of an attempt that failed count as well', async () => {
    const clock = new ManualClock()
    const filtered: LanguageModelV4StreamPart = {
      type: 'finish',
      finishReason: { unified: 'error', raw: 'MALFORMED_FUNCTION_CALL' },
      usage,
    }
    const streams = [[filtered], [...hello, finish]]
    const model = new MockLanguageModelV4({
      doStream: async () => ({ stream: convertArrayToReadableStream(streams.shift() ?? []) }),
    })
    const adapter = new VercelAIAdapter({ clock, random: () => 0.5 })
    const retried = Promise.withResolvers<string>()
    const step = adapter.generateStep({
      ...inputOf(model),
      callbacks: { onRetry: ({ error }) => retried.resolve(error.code) },
    })
    expect(await retried.promise).toBe('malformed-tool-call')
    await clock.advance(1_400)
    expect(await step).toMatchObject({ content: 'Hello.', usage: { totalTokens: 30 } })
  })

  test('JSON that was asked for and did not come is a text', async () => {
    const config = { responseSchema: { type: 'object' } }
    const result = await new VercelAIAdapter().generateStep(inputOf(speaking(...hello), config))
    expect(result).toMatchObject({ type: 'text', content: 'Hello.' })
  })

  test('reasoning of another provider is not sent', async () => {
    const seen: unknown[] = []
    const model = new MockLanguageModelV4({
      provider: 'other.chat',
      doStream: async ({ prompt }) => {
        seen.push(...prompt)
        return { stream: convertArrayToReadableStream([finish]) }
      },
    })
    const parts = [
      { kind: 'reasoning', length: 2, metadata: { first: { signature: 'x' } } },
      { kind: 'text', length: 3 },
    ]
    const providerMetadata = { provider: 'first', parts }
    const answer = { role: 'assistant', content: 'Yes.', thinking: 'Hm', providerMetadata } as const
    await new VercelAIAdapter().generateStep({
      ...inputOf(model),
      messages: [{ role: 'user', content: 'Go.' }, answer],
    })
    expect(seen[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'Yes' },
        { type: 'text', text: '.' },
      ],
    })
  })
})
