import { ModelError, type ModelErrorCode, type StepResult } from '@helix-agents/core'
import { check, ConformanceError, equal } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { answer, expectType, says, step, text } from './model-script.ts'
import type { ModelSubject, PlannedFailure, PlannedTurn } from './model-subject.ts'

const ONCE = { config: { maxRetries: 0 } }

export const failureBehaviours: readonly Behaviour<ModelSubject>[] = [
  refusal('rate-limited', 'rate-limited', true),
  refusal('quota-used-up', 'rate-limited', false),
  refusal('overloaded', 'overloaded', true),
  refusal('server-error', 'model-failed', true),
  refusal('unauthorized', 'unauthorized', false),
  refusal('context-length', 'context-length', false),
  refusal('content-filtered', 'content-filtered', false),
  refusal('invalid-request', 'invalid-request', false),
  {
    id: 'model/failure/a-filtered-answer-is-no-answer',
    needs: ['failures'],
    run: async (subject) => {
      const turn = { type: 'answer', parts: [text('So, you')], end: 'content-filter' } as const
      expectFailure((await answer(subject, turn, ONCE)).result, 'content-filtered', false)
    },
  },
  {
    id: 'model/failure/a-lost-connection-is-no-answer',
    needs: ['failures'],
    run: async (subject) => {
      const turn = { type: 'answer', parts: [text('Once upon ', 'a time')], end: 'cut' } as const
      expectFailure((await answer(subject, turn, ONCE)).result, 'connection-lost', true)
    },
  },
  {
    id: 'model/failure/an-error-in-the-stream-is-no-answer',
    needs: ['failures'],
    run: async (subject) => {
      const turn = { type: 'answer', parts: [text('Once upon')], end: 'error' } as const
      expectFailure((await answer(subject, turn, ONCE)).result, 'overloaded', true)
    },
  },
  {
    id: 'model/failure/silence-is-a-timeout',
    needs: ['failures'],
    run: async (subject) => {
      subject.plan({ type: 'answer', parts: [text('Well')], end: 'silence' })
      const spoken = Promise.withResolvers<void>()
      const { result } = step(subject, { ...ONCE, onText: () => spoken.resolve() })
      await Promise.race([spoken.promise, result])
      await subject.passTime(subject.idleTimeoutMs)
      expectFailure(await result, 'timeout', true)
    },
  },
  {
    id: 'model/failure/quotes-nothing-of-the-provider',
    needs: ['failures'],
    run: async (subject) => {
      const failures = ['unauthorized', 'content-filtered', 'invalid-request'] as const
      for (const failure of failures) {
        const { result } = await answer(subject, { type: 'failure', failure }, ONCE)
        const { error } = expectType(result, 'error')
        check(!allTextOf(error).includes(subject.secret), `no words of the provider in ${failure}`)
      }
    },
  },
  {
    id: 'model/abort/before-the-call-sends-nothing',
    run: async (subject) => {
      const reason = new Error('enough')
      subject.plan(says(text('a')))
      const { result } = step(subject, { signal: AbortSignal.abort(reason) })
      await rejectsWith(reason, result)
      equal(subject.calls.length, 0)
    },
  },
  {
    id: 'model/abort/in-the-middle-ends-it',
    needs: ['streaming'],
    run: async (subject) => {
      const reason = new Error('enough')
      const controller = new AbortController()
      subject.plan({ type: 'answer', parts: [text('Well')], end: 'silence' })
      const onText = (): void => controller.abort(reason)
      const { result, emitted } = step(subject, { signal: controller.signal, onText })
      await rejectsWith(reason, result)
      equal(emitted.retries, [])
    },
  },
]

function refusal(
  failure: PlannedFailure,
  code: ModelErrorCode,
  retryable: boolean,
): Behaviour<ModelSubject> {
  return {
    id: `model/failure/${failure}`,
    needs: ['failures'],
    run: async (subject) => {
      const turn: PlannedTurn = { type: 'failure', failure }
      const { result, emitted } = await answer(subject, turn, ONCE)
      expectFailure(result, code, retryable)
      equal([emitted.texts, emitted.retries], [[], []])
    },
  }
}

/** A `ModelError` of the code, after which the run ends. */
export function expectFailure(
  result: StepResult,
  code: ModelErrorCode,
  retryable: boolean,
): ModelError {
  const { error, shouldStop } = expectType(result, 'error')
  if (!ModelError.isInstance(error)) {
    throw new ConformanceError(`expected a ModelError, got ${String(error)}`)
  }
  equal([error.code, error.retryable, shouldStop], [code, retryable, true])
  return error
}

async function rejectsWith(reason: unknown, result: Promise<unknown>): Promise<void> {
  const [end] = await Promise.allSettled([result])
  check(end.status === 'rejected' && end.reason === reason, 'a rejection with the reason')
}

/** Everything that a log could write of an error. */
function allTextOf(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null || depth > 8) return String(error)
  const names = [...Object.getOwnPropertyNames(error), 'message', 'stack', 'cause']
  return names.map((name) => `${name} ${allTextOf(Reflect.get(error, name), depth + 1)}`).join('\n')
}
