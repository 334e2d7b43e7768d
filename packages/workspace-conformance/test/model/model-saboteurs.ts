import { ModelError, type StepInput, type StepResult } from '@helix-agents/core'
import type { StepCallbacks } from '@helix-agents/core/runtime'
import type { ModelSubject, SeenCall } from '@helix-agents/workspace-conformance/model'

type Saboteur = (good: ModelSubject) => ModelSubject

/** Changes what the adapter gets. */
const input =
  (change: (given: StepInput) => Partial<StepInput>): Saboteur =>
  (good) => ({
    ...good,
    adapter: {
      generateStep: (given) => good.adapter.generateStep({ ...given, ...change(given) }),
    },
  })

/** Changes what the adapter answers. */
const result =
  (change: (end: StepResult) => object): Saboteur =>
  (good) => ({
    ...good,
    adapter: {
      generateStep: async (given) => {
        const end = await good.adapter.generateStep(given)
        return { ...end, ...change(end) }
      },
    },
  })

/** Changes what the adapter tells. */
const callbacks = (change: (given: StepCallbacks) => Partial<StepCallbacks>): Saboteur =>
  input((given) => ({ callbacks: { ...given.callbacks, ...change(given.callbacks) } }))

/** Changes what the provider has seen. */
const seen =
  (change: (call: SeenCall) => Partial<SeenCall>): Saboteur =>
  (good) => ({
    ...good,
    get calls() {
      return good.calls.map((call) => ({ ...call, ...change(call) }))
    },
  })

const firstCall = (change: object): Saboteur =>
  result((end) =>
    end.type === 'tool_calls'
      ? { toolCalls: end.toolCalls.map((call, at) => (at === 0 ? { ...call, ...change } : call)) }
      : {},
  )

const error = (made: unknown): Saboteur => result(() => ({ error: made }))
const wrongCode = error(new ModelError('invalid-request', { retryable: true }))
const plainError = error(new Error('the provider failed'))
const asAnswer = result(() => ({ type: 'text', content: 'Once', shouldStop: true }))
const noRetry = input((given) => ({ config: { ...given.config, maxRetries: 0 } }))
const noFiles = input((given) => ({
  messages: given.messages.map((message) => {
    if (message.role === 'user') return { role: 'user', content: message.content }
    if (message.role !== 'tool' || typeof message.content === 'string') return message
    return { ...message, content: message.content.filter((part) => part.type === 'text') }
  }),
}))

/** Sends unreadable arguments back as they are, which no provider takes. */
const refusesUnreadable: Saboteur = (good) => ({
  ...good,
  adapter: {
    generateStep: async (given) => {
      const calls = given.messages.flatMap((message) =>
        message.role === 'assistant' ? (message.toolCalls ?? []) : [],
      )
      return calls.some(({ problem }) => problem !== undefined)
        ? { type: 'error', error: new ModelError('invalid-request'), shouldStop: true }
        : good.adapter.generateStep(given)
    },
  },
})

/** Does not listen to its signal. */
const deaf: Saboteur = (good) => ({
  ...good,
  adapter: {
    generateStep: async (given) => {
      const { signal } = new AbortController()
      const { promise: aborted, resolve: abort } = Promise.withResolvers<void>()
      given.abortSignal.addEventListener('abort', () => abort())
      await Promise.race([good.adapter.generateStep({ ...given, abortSignal: signal }), aborted])
      return { type: 'text', content: 'Well', shouldStop: true }
    },
  },
})

export const modelSaboteurs: Readonly<Record<string, Saboteur>> = {
  'model/text/is-the-answer': result(() => ({ shouldStop: false })),
  'model/text/is-emitted-piece-by-piece': callbacks((given) => {
    let whole = ''
    return {
      onTextDelta: (delta) => {
        whole += delta
        if (whole.endsWith('three')) given.onTextDelta?.(whole)
      },
    }
  }),
  'model/thinking/is-separate-from-text': callbacks((given) => ({
    onThinking: (content) => given.onTextDelta?.(content),
  })),
  'model/calls/arguments-are-parsed': firstCall({ arguments: '{"page":7}' }),
  'model/calls/without-arguments-have-an-empty-object': firstCall({ arguments: '' }),
  'model/calls/in-parallel-keep-their-order': result((end) =>
    end.type === 'tool_calls' ? { toolCalls: end.toolCalls.toReversed() } : {},
  ),
  'model/calls/keep-the-text-before-them': result(() => ({ content: '' })),
  'model/calls/input-is-emitted-while-it-is-written': callbacks(() => ({ onToolInput: () => {} })),
  'model/calls/arguments-that-are-no-json-are-a-problem': firstCall({ problem: undefined }),
  'model/calls/that-are-cut-off-are-a-problem': firstCall({ problem: undefined }),
  'model/end/a-limit-of-tokens-is-reported': result(() => ({ stopReason: 'stop' })),
  'model/usage/is-counted': result(() => ({ usage: undefined })),
  'model/usage/cached-and-reasoning-tokens-are-separate': result(() => ({
    usage: { inputTokens: 120, outputTokens: 30, totalTokens: 150 },
  })),
  'model/structured-output/is-parsed': result(() => ({ output: '{"total":12.5}' })),
  'model/input/prompt-messages-and-tools-reach-the-model': input(() => ({ tools: [] })),
  'model/input/results-reach-the-model-with-their-calls': input((given) => ({
    messages: given.messages.filter(({ role }) => role !== 'tool'),
  })),
  'model/input/unreadable-arguments-do-not-break-the-next-step': refusesUnreadable,
  'model/input/is-not-changed': input((given) => {
    Reflect.apply(Array.prototype.pop, given.messages, [])
    return {}
  }),
  'model/input/what-was-sent-stays-as-it-was': input((given) => ({
    messages: given.messages.slice(-2),
  })),
  'model/input/signed-reasoning-comes-back': seen(({ messages }) => ({
    messages: messages.map((message) =>
      message.role === 'assistant' ? { ...message, signatures: [] } : message,
    ),
  })),
  'model/input/files-of-the-user-reach-the-model': noFiles,
  'model/input/images-of-results-reach-the-model': noFiles,
  'model/settings/reach-the-provider': input(({ config: { model } }) => ({ config: { model } })),
  'model/steps/at-the-same-time-do-not-mix': callbacks((given) => ({
    onTextDelta: (delta) => {
      given.onTextDelta?.(delta)
      given.onTextDelta?.(delta)
    },
  })),
  'model/failure/rate-limited': wrongCode,
  'model/failure/quota-used-up': error(new ModelError('rate-limited')),
  'model/failure/overloaded': plainError,
  'model/failure/server-error': error(new ModelError('model-failed', { retryable: false })),
  'model/failure/unauthorized': wrongCode,
  'model/failure/context-length': wrongCode,
  'model/failure/content-filtered': wrongCode,
  'model/failure/invalid-request': wrongCode,
  'model/failure/a-filtered-answer-is-no-answer': asAnswer,
  'model/failure/a-lost-connection-is-no-answer': asAnswer,
  'model/failure/an-error-in-the-stream-is-no-answer': asAnswer,
  'model/failure/silence-is-a-timeout': wrongCode,
  'model/failure/quotes-nothing-of-the-provider': (good) =>
    error(new ModelError('unauthorized', { cause: new Error(`key ${good.secret}`) }))(good),
  'model/abort/before-the-call-sends-nothing': deaf,
  'model/abort/in-the-middle-ends-it': deaf,
  'model/retry/a-failure-that-passes-is-not-seen': noRetry,
  'model/retry/waits-as-long-as-the-provider-asks': callbacks((given) => ({
    onRetry: (retry) => given.onRetry?.({ ...retry, delayMs: retry.delayMs + 1 }),
  })),
  'model/retry/a-wait-that-is-too-long-is-the-end': error(new ModelError('rate-limited')),
  'model/retry/ends-after-as-many-as-are-allowed': noRetry,
  'model/retry/what-cannot-pass-is-not-tried-again': wrongCode,
  'model/retry/says-that-what-was-said-does-not-count': callbacks((given) => ({
    onRetry: (retry) => given.onRetry?.({ ...retry, discardsOutput: false }),
  })),
  'model/retry/an-abort-ends-the-wait': noRetry,
}
