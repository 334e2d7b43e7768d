// When a call is made again, after which time, and what is told of it.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { ModelError, type StepInput } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { VercelAIAdapter, type VercelAIAdapterOptions } from '@helix-agents/llm-vercel'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { beforeEach, describe, expect, test } from 'vitest'

let clock: ManualClock
let stop: AbortController
let retries: unknown[]
let calls: number[]
beforeEach(() => {
  clock = new ManualClock(0)
  stop = new AbortController()
  retries = []
  calls = []
})

const usageOf = (total: number) => ({
  inputTokens: { total, noCache: total, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
})
const say = (delta: string): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '0', delta })
const finish = (total: number, unified: 'stop' | 'error' = 'stop'): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw: undefined },
  usage: usageOf(total),
})
const asking = (retryAfterMs: number): ModelError =>
  new ModelError('rate-limited', { retryAfterMs })

type Answer = Error | readonly LanguageModelV4StreamPart[]

/** A step whose provider answers so, one after the other; the last answer stays. */
function step(answers: readonly Answer[], options: VercelAIAdapterOptions = {}, config = {}) {
  const model = new MockLanguageModelV4({
    doStream: async () => {
      calls.push(clock.now())
      const answer = answers[calls.length - 1] ?? answers.at(-1) ?? []
      if (answer instanceof Error) throw answer
      return { stream: convertArrayToReadableStream([...answer]) }
    },
  })
  const input: StepInput = {
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [],
    config: { model, ...config },
    abortSignal: stop.signal,
    callbacks: {
      onRetry: ({ error, ...retry }) => retries.push({ code: error.code, ...retry }),
    },
    agentId: 'run',
    agentType: 'agent',
  }
  return new VercelAIAdapter({ clock, random: () => 0.5, ...options }).generateStep(input)
}

async function finished<T>(work: Promise<T>, turns = 40): Promise<T> {
  const progress = { isDone: false }
  const done = work.finally(() => {
    progress.isDone = true
  })
  done.catch(() => undefined)
  for (let turn = 0; turn < turns && !progress.isDone; turn += 1) {
    await new Promise(setImmediate)
    await clock.advance(1000)
  }
  return done
}

const OK = [say('Hello.'), finish(10)]

describe('a call is made again', () => {
  test('as often as the adapter says, later each time', async () => {
    const result = await finished(step([asking(0)], { maxRetries: 2 }))
    expect(result).toMatchObject({
      type: 'error',
      shouldStop: true,
      error: { code: 'rate-limited' },
    })
    expect(calls).toHaveLength(3)
    const [first, second] = retries as { readonly delayMs: number }[]
    expect(retries).toMatchObject([
      { code: 'rate-limited', attempt: 1, discardsOutput: false },
      { code: 'rate-limited', attempt: 2, discardsOutput: false },
    ])
    expect(first?.delayMs).toBeGreaterThan(0)
    expect(second?.delayMs).toBeGreaterThan(first?.delayMs ?? 0)
  })

  test('as often as the agent says', async () => {
    await finished(step([asking(0)], { maxRetries: 2 }, { maxRetries: 1 }))
    expect(calls).toHaveLength(2)
    calls.length = 0
    await finished(step([asking(0)], { maxRetries: 2 }, { maxRetries: 0 }))
    expect(calls).toHaveLength(1)
  })

  test('not when the agent says no count: nothing is called', async () => {
    const result = await finished(step([OK], {}, { maxRetries: -1 }))
    expect(result).toMatchObject({
      type: 'error',
      shouldStop: true,
      error: {
        code: 'invalid-request',
        message: expect.stringContaining('maxRetries is no count'),
      },
    })
    expect(calls).toEqual([])
  })

  test('when the provider asks, and not before', async () => {
    expect(await finished(step([asking(5000), OK]))).toMatchObject({ content: 'Hello.' })
    expect(retries).toEqual([
      { code: 'rate-limited', attempt: 1, delayMs: 5000, discardsOutput: false },
    ])
    expect((calls[1] ?? 0) - (calls[0] ?? 0)).toBe(5000)
  })

  test.each([
    [7000, true],
    [7001, false],
  ])('when the provider asks for %d ms, and 7 s are the most: %s', async (ms, isAgain) => {
    await finished(step([asking(ms), OK], { maxRetryDelayMs: 7000 }))
    expect(calls).toHaveLength(isAgain ? 2 : 1)
  })

  test('never later than the longest wait', async () => {
    await finished(step([new ModelError('overloaded')], { maxRetries: 6, maxRetryDelayMs: 1200 }))
    expect(calls).toHaveLength(7)
    expect(Math.max(...retries.map((retry) => (retry as { delayMs: number }).delayMs))).toBe(1200)
  })

  test('not when it would fail again', async () => {
    await finished(step([new ModelError('unauthorized'), OK]))
    expect([calls.length, retries]).toEqual([1, []])
  })

  test('also in the middle of an answer, whose words are taken back', async () => {
    const broken = [say('Hel'), finish(3, 'error')]
    const result = await finished(step([broken, OK]))
    expect(result).toMatchObject({ content: 'Hello.', usage: { totalTokens: 13 } })
    expect(retries).toMatchObject([{ code: 'model-failed', attempt: 1, discardsOutput: true }])
  })

  test('and what the failed ones cost is told of a failure as well', async () => {
    const broken = [finish(3, 'error')]
    const result = await finished(step([broken], { maxRetries: 1 }))
    expect(result).toMatchObject({ type: 'error', usage: { totalTokens: 6 } })
    const uncounted = await finished(step([new ModelError('unauthorized')]))
    expect(uncounted).not.toHaveProperty('usage')
  })
})

describe('an abort', () => {
  test('ends the wait for the next attempt', async () => {
    const work = step([asking(50_000), OK])
    await new Promise(setImmediate)
    stop.abort(new Error('enough'))
    await expect(finished(work)).rejects.toThrow('enough')
    expect(calls).toHaveLength(1)
  })

  test('before the call calls nothing', async () => {
    stop.abort(new Error('enough'))
    await expect(step([OK])).rejects.toThrow('enough')
    expect(calls).toEqual([])
  })
})

test('a listener of errors that fails is logged, and changes nothing', async () => {
  const logger = new RecordingLogger()
  const err = new Error('no listener')
  const onProviderError = (): never => {
    throw err
  }
  const result = await finished(step([asking(1), OK], { logger, onProviderError }))
  expect(result).toMatchObject({ content: 'Hello.' })
  expect(logger.lines).toEqual([
    { level: 'warn', message: 'onProviderError failed', fields: { err } },
  ])
})
