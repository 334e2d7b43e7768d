// Providers, settings and histories that are not as they should be.
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type Message, ModelError, type StepInput, type StepResult } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { VercelAIAdapter } from '@helix-agents/llm-vercel'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'

const count = { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 }
const usage = { inputTokens: count, outputTokens: { total: 5, text: 5, reasoning: 0 } }

function endOf(unified: 'stop' | 'length' | 'other', raw?: string): LanguageModelV4StreamPart {
  return { type: 'finish', finishReason: { unified, raw }, usage }
}

const hello: readonly LanguageModelV4StreamPart[] = [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hello.' },
  { type: 'text-end', id: '1' },
]

function speaking(parts: readonly LanguageModelV4StreamPart[], name = 'mock.chat') {
  const seen: LanguageModelV4CallOptions[] = []
  const model = new MockLanguageModelV4({
    provider: name,
    doStream: async (options) => {
      seen.push(options)
      return { stream: convertArrayToReadableStream([...parts]) }
    },
  })
  return { model, seen }
}

function failing(error: unknown): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async () => {
      throw error
    },
  })
}

function inputOf(model: unknown, more: Partial<StepInput> = {}): StepInput {
  return {
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [],
    config: { model, maxRetries: 0 },
    abortSignal: new AbortController().signal,
    callbacks: {},
    agentId: 'run',
    agentType: 'agent',
    ...more,
  }
}

function codeOf(result: StepResult): string {
  if (result.type !== 'error' || !ModelError.isInstance(result.error)) return result.type
  return result.error.code
}

const errorWith = (name: string): Error =>
  Object.defineProperty(new Error('x'), name, {
    get: () => {
      throw new Error('sk-secret')
    },
  })

const failToShow = (): void => {
  throw new Error('no disk')
}

describe('what is thrown', () => {
  test.each(['message', 'name', 'cause', 'statusCode', 'data', 'responseHeaders', 'code'])(
    'may have a getter for %s that throws',
    async (name) => {
      const result = await new VercelAIAdapter().generateStep(inputOf(failing(errorWith(name))))
      expect(result.type).toBe('error')
      expect(String((result as { error: Error }).error)).not.toContain('secret')
    },
  )

  test.each([
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
        ownKeys: () => {
          throw new Error('no')
        },
      },
    ),
    Object.assign(new Error('x'), { statusCode: Symbol('429'), code: { valueOf: 5 } }),
    Object.assign(new Error('x'), { responseHeaders: 5 }),
    null,
    'terminated',
  ])('may be anything', async (thrown) => {
    const result = await new VercelAIAdapter().generateStep(inputOf(failing(thrown)))
    expect(result).toMatchObject({ type: 'error', shouldStop: true })
  })

  test('is shown to an operator whose look at it fails', async () => {
    const logger = new RecordingLogger()
    const adapter = new VercelAIAdapter({ onProviderError: failToShow, logger })
    const result = await adapter.generateStep(inputOf(failing(new Error('terminated'))))
    expect(codeOf(result)).toBe('connection-lost')
    expect(logger.with('onProviderError failed')).toHaveLength(1)
  })

  test.each([
    ['retry-after-ms', '1e12', 1e12],
    ['retry-after', '1e400', undefined],
    ['retry-after-ms', 'Infinity', undefined],
    ['Retry-After', '70', 70_000],
  ])('with %s: %s is not waited for', async (name, value, expected) => {
    const busy = Object.assign(new Error('busy'), {
      statusCode: 429,
      responseHeaders: { [name]: value },
    })
    const config = { model: failing(busy), maxRetries: expected === undefined ? 0 : 3 }
    const result = await new VercelAIAdapter().generateStep(inputOf(undefined, { config }))
    expect(codeOf(result)).toBe('rate-limited')
    expect((result as { error: ModelError }).error.retryAfterMs).toBe(expected)
  })

  test('with a time in the past is not tried again at once', async () => {
    const clock = new ManualClock()
    const busy = Object.assign(new Error('busy'), {
      statusCode: 429,
      responseHeaders: { 'retry-after': '0' },
    })
    const delays: number[] = []
    const controller = new AbortController()
    const onRetry = ({ delayMs }: { readonly delayMs: number }): void => {
      delays.push(delayMs)
      controller.abort(new Error('enough'))
    }
    const step = new VercelAIAdapter({ clock, random: () => 0.5 }).generateStep(
      inputOf(undefined, {
        config: { model: failing(busy) },
        callbacks: { onRetry },
        abortSignal: controller.signal,
      }),
    )
    await expect(step).rejects.toThrow('enough')
    expect(delays).toEqual([1_400])
    expect(clock.pendingTimers).toBe(0)
  })
})

test.each([-1, 1.5, Number.NaN])('maxRetries %d of a config fails the call', async (maxRetries) => {
  const config = { model: speaking(hello).model, maxRetries }
  const result = await new VercelAIAdapter().generateStep(inputOf(undefined, { config }))
  expect(codeOf(result)).toBe('invalid-request')
})

describe('a provider that does not hear an abort', () => {
  test('answers into nothing, and its stream is let go', async () => {
    const cancelled = Promise.withResolvers<void>()
    const opened = Promise.withResolvers<void>()
    const model = new MockLanguageModelV4({
      doStream: async () => {
        await opened.promise
        return { stream: new ReadableStream({ cancel: () => cancelled.resolve() }) }
      },
    })
    const controller = new AbortController()
    const input = inputOf(model, { abortSignal: controller.signal })
    const step = new VercelAIAdapter().generateStep(input)
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(step).rejects.toBe(reason)
    opened.resolve()
    await cancelled.promise
  })
})

describe('an answer', () => {
  test.each([
    ['with nothing in it', []],
    ['that breaks off between two words', hello],
  ])('%s whose end its provider never told is none', async (_, parts) => {
    const { model } = speaking([...parts, endOf('other')])
    expect(codeOf(await new VercelAIAdapter().generateStep(inputOf(model)))).toBe('connection-lost')
    const told = speaking([...hello, endOf('other', 'pause_turn')])
    expect(codeOf(await new VercelAIAdapter().generateStep(inputOf(told.model)))).toBe('text')
  })

  test('that is cut off before the arguments of a call makes no call without arguments', async () => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'wipe', input: '' } as const
    const { model } = speaking([call, endOf('length')])
    const result = await new VercelAIAdapter().generateStep(inputOf(model))
    expect(result).toMatchObject({ toolCalls: [{ name: 'wipe', problem: 'truncated' }] })
    const whole = speaking([call, endOf('stop')])
    const other = await new VercelAIAdapter().generateStep(inputOf(whole.model))
    expect(other).toMatchObject({ toolCalls: [{ name: 'wipe', arguments: {} }] })
  })
})

const call = (id: string, name: string): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ id, name, arguments: {} }],
})

const result = (toolCallId: string, toolName: string): Message => ({
  role: 'tool',
  toolCallId,
  toolName,
  content: 'there is no such tool',
  isError: true,
})

describe('a history', () => {
  const madeUp = 'workspace.notes/write file'
  const messages = [
    { role: 'user', content: 'Go.' } as const,
    call('functions.x:0', madeUp),
    result('functions.x:0', madeUp),
  ]

  test.each([
    ['anthropic.messages', 'functions_x_0'],
    ['openai.chat', 'functions.x:0'],
  ])('has names that %s takes', async (provider, toolCallId) => {
    const { model, seen } = speaking([...hello, endOf('stop')], provider)
    await new VercelAIAdapter().generateStep(inputOf(model, { messages }))
    const named = { toolName: 'workspace_notes_write_file', toolCallId }
    expect(seen[0]?.prompt[1]?.content).toMatchObject([named])
    expect(seen[0]?.prompt[2]?.content).toMatchObject([named])
  })

  test('has no tool without a name, nor one with a very long one', async () => {
    const { model, seen } = speaking([...hello, endOf('stop')])
    const names = ['', 'x'.repeat(5_000)]
    const all = names.flatMap((name, at) => [call(`c${at}`, name), result(`c${at}`, name)])
    await new VercelAIAdapter().generateStep(inputOf(model, { messages: [messages[0]!, ...all] }))
    const parts = seen[0]?.prompt.flatMap(({ content }) => content as { toolName?: string }[])
    const sent = parts?.flatMap(({ toolName }) => (toolName === undefined ? [] : [toolName]))
    expect(sent?.map((name) => name.length)).toEqual([1, 1, 64, 64])
  })

  test.each(['openai.chat', 'anthropic.messages'])(
    'gives text files of results to %s as text',
    async (provider) => {
      const { model, seen } = speaking([...hello, endOf('stop')], provider)
      const data = new TextEncoder().encode('a,b')
      const csv: Message = {
        role: 'tool',
        toolCallId: 'c',
        toolName: 'read',
        content: [{ type: 'media', mediaType: 'text/csv', data }],
      }
      const all = [messages[0]!, call('c', 'read'), csv]
      await new VercelAIAdapter().generateStep(inputOf(model, { messages: all }))
      expect(seen[0]?.prompt).toHaveLength(3)
      expect(JSON.stringify(seen[0]?.prompt[2])).toContain('a,b')
    },
  )

  test('with an address that is none fails the call, and says why', async () => {
    const files = [{ data: 'https://', mediaType: 'image/png' }]
    const user: Message = { role: 'user', content: 'See.', files }
    const input = inputOf(speaking(hello).model, { messages: [user] })
    expect(codeOf(await new VercelAIAdapter().generateStep(input))).toBe('invalid-request')
  })
})

test.each([
  ['text', (delta: string) => ({ type: 'text-delta' as const, id: '1', delta })],
  ['reasoning', (delta: string) => ({ type: 'reasoning-delta' as const, id: '1', delta })],
  ['arguments', (delta: string) => ({ type: 'tool-input-delta' as const, id: '1', delta })],
] as const)('a flood of %s is stopped while it streams', async (_, partOf) => {
  let pulled = 0
  let cancelled: unknown
  const model = new MockLanguageModelV4({
    doStream: async () => ({
      stream: new ReadableStream<LanguageModelV4StreamPart>({
        pull: (controller) => {
          pulled += 1
          controller.enqueue(partOf('x'.repeat(1_000_000)))
        },
        cancel: (reason) => {
          cancelled = reason ?? 'cancelled'
        },
      }),
    }),
  })
  const stopped = await new VercelAIAdapter().generateStep(inputOf(model))
  expect(codeOf(stopped)).toBe('answer-too-large')
  expect(pulled).toBeLessThan(12)
  expect(cancelled).toBeDefined()
})
