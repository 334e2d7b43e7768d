import type { StepResult } from '@helix-agents/core'
import { check, equal } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { expectFailure } from './failure-behaviours.ts'
import { expectType, type Emitted, says, step, type StepOptions, text } from './model-script.ts'
import type { ModelSubject, PlannedTurn } from './model-subject.ts'

const OVERLOADED: PlannedTurn = { type: 'failure', failure: 'overloaded' }

export const retryBehaviours: readonly Behaviour<ModelSubject>[] = [
  {
    id: 'model/retry/a-failure-that-passes-is-not-seen',
    needs: ['failures'],
    run: async (subject) => {
      subject.plan(OVERLOADED, OVERLOADED, says(text('There.')))
      const { result, emitted } = await patiently(subject)
      equal(expectType(result, 'text').content, 'There.')
      equal(subject.calls.length, 3)
      equal(
        emitted.retries.map(({ attempt, error, discardsOutput }) => [
          attempt,
          error.code,
          discardsOutput,
        ]),
        [
          [1, 'overloaded', false],
          [2, 'overloaded', false],
        ],
      )
    },
  },
  {
    id: 'model/retry/waits-as-long-as-the-provider-asks',
    needs: ['failures'],
    run: async (subject) => {
      const limited = { type: 'failure', failure: 'rate-limited', retryAfterMs: 7_000 } as const
      subject.plan(limited, says(text('There.')))
      const { emitted, result } = await patiently(subject)
      equal(
        emitted.retries.map(({ delayMs }) => delayMs),
        [7_000],
      )
      equal(expectType(result, 'text').content, 'There.')
    },
  },
  {
    id: 'model/retry/a-wait-that-is-too-long-is-the-end',
    needs: ['failures'],
    run: async (subject) => {
      const retryAfterMs = 3_600_000
      subject.plan({ type: 'failure', failure: 'rate-limited', retryAfterMs })
      const { result, emitted } = await patiently(subject)
      const error = expectFailure(result, 'rate-limited', true)
      equal([error.retryAfterMs, emitted.retries], [retryAfterMs, []])
    },
  },
  {
    id: 'model/retry/ends-after-as-many-as-are-allowed',
    needs: ['failures'],
    run: async (subject) => {
      subject.plan(OVERLOADED, OVERLOADED, OVERLOADED)
      const { result } = await patiently(subject, { config: { maxRetries: 2 } })
      expectFailure(result, 'overloaded', true)
      equal(subject.calls.length, 3)
    },
  },
  {
    id: 'model/retry/what-cannot-pass-is-not-tried-again',
    needs: ['failures'],
    run: async (subject) => {
      subject.plan({ type: 'failure', failure: 'unauthorized' }, says(text('There.')))
      const { result, emitted } = await patiently(subject)
      expectFailure(result, 'unauthorized', false)
      equal([subject.calls.length, emitted.retries], [1, []])
    },
  },
  {
    id: 'model/retry/says-that-what-was-said-does-not-count',
    needs: ['failures'],
    run: async (subject) => {
      const broken = { type: 'answer', parts: [text('Once upon ', 'a time')], end: 'cut' } as const
      subject.plan(broken, says(text('Twice ', 'upon a time')))
      const { result, emitted, emittedBefore } = await patiently(subject)
      equal(expectType(result, 'text').content, 'Twice upon a time')
      equal(
        emitted.retries.map((retry) => retry.discardsOutput),
        [true],
      )
      const [before = 0] = emittedBefore
      check(before > 0, 'the broken answer to be emitted')
      equal(emitted.texts.slice(before).join(''), 'Twice upon a time')
    },
  },
  {
    id: 'model/retry/an-abort-ends-the-wait',
    needs: ['failures'],
    run: async (subject) => {
      const reason = new Error('enough')
      const controller = new AbortController()
      subject.plan(OVERLOADED)
      const waiting = Promise.withResolvers<void>()
      const onRetry = (): void => waiting.resolve()
      const { result } = step(subject, { signal: controller.signal, onRetry })
      const ended = Promise.allSettled([result])
      await Promise.race([waiting.promise, ended])
      await subject.passTime(0)
      controller.abort(reason)
      const [end] = await ended
      check(end.status === 'rejected' && end.reason === reason, 'a rejection with the reason')
    },
  },
]

/** A step whose waits take no time; with the texts that were emitted before each of them. */
async function patiently(
  subject: ModelSubject,
  options: StepOptions = {},
): Promise<{
  readonly emitted: Emitted
  readonly emittedBefore: readonly number[]
  readonly result: StepResult
}> {
  const emittedBefore: number[] = []
  const signal = { wake: Promise.withResolvers<'retry'>() }
  const onRetry = (): void => {
    emittedBefore.push(emitted.texts.length)
    signal.wake.resolve('retry')
  }
  const { emitted, result } = step(subject, { ...options, onRetry })
  const ended = Promise.allSettled([result]).then(() => 'end' as const)
  for (let waited = 0; ; waited += 1) {
    const retry = emitted.retries[waited]
    const next = await (retry === undefined ? Promise.race([signal.wake.promise, ended]) : 'retry')
    signal.wake = Promise.withResolvers()
    if (next === 'end') return { emitted, emittedBefore, result: await result }
    await subject.passTime(emitted.retries[waited]?.delayMs ?? 0)
  }
}
