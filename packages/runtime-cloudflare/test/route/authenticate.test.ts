// A hook that is broken, slow or silent lets nobody in, tells clients nothing, and the operator all.
import { env } from 'cloudflare:workers'
import { StateStoreError } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import {
  type Authenticate,
  RequestError,
  routeAgentRequest,
  type RouteAgentOptions,
} from '@helix-agents/runtime-cloudflare'
import { describe, expect, test } from 'vitest'
import { answerOf, createSession, storedIn } from '../session.ts'

type Options = RouteAgentOptions<Cloudflare.Env>

function ask(authenticate: Authenticate<Cloudflare.Env>, options: Partial<Options> = {}) {
  const session = createSession()
  const logger = new RecordingLogger()
  const request = new Request(session.url('/start'), {
    method: 'POST',
    body: '{"message":"go"}',
    headers: { 'content-type': 'application/json' },
  })
  const all = { binding: 'AGENTS', authenticate, logger, ...options }
  const answer = routeAgentRequest(request, env, all).then((response) => answerOf(response!))
  return { session, logger, answer }
}

const secret = 'the key of the identity provider'

describe('a hook that fails', () => {
  const failures: Readonly<Record<string, Authenticate<Cloudflare.Env>>> = {
    'that throws': () => {
      throw new Error(secret)
    },
    'that rejects': () => Promise.reject(new Error(secret)),
    'that throws no error': () => {
      throw secret
    },
    // What the runtime would show of its own.
    'that throws an error of the core': () => {
      throw new StateStoreError('not-found', secret, secret)
    },
    'whose answer cannot be looked at': () => ({
      get userId(): string {
        throw new Error(secret)
      },
    }),
  }

  test.each(Object.keys(failures))('%s is a 500', async (name) => {
    const { session, logger, answer } = ask(failures[name]!)
    const { status, body } = await answer
    expect([status, body.error.code]).toEqual([500, 'authentication-failed'])
    expect(JSON.stringify(body)).not.toContain(secret)
    expect(logger.lines.map(({ level }) => level)).toEqual(['error'])
    expect((await storedIn(session)).tables).toEqual([])
  })

  test('a refusal of its own is sent as it is', async () => {
    const { answer, logger } = ask(() => {
      throw new RequestError(402, 'no-credit', 'there is no credit left')
    })
    expect(await answer).toMatchObject({ status: 402, body: { error: { code: 'no-credit' } } })
    expect(logger.lines).toEqual([])
  })
})

describe('what is no caller', () => {
  const noCallers: readonly (readonly [what: string, value: unknown, status: number])[] = [
    ['an error', new Error(secret), 500],
    ['a map', new Map([['userId', 'ann']]), 500],
    ['a date', new Date(0), 500],
    ['headers', new Headers({ 'user-id': 'ann' }), 500],
    ['a list', ['ann'], 500],
    ['an empty list', [], 500],
    ['a set', new Set(['ann']), 500],
    ['a field that is misspelt', { userID: 'ann' }, 500],
    ['an empty name', { userId: '' }, 500],
    ['a text for a flag', { isOperator: 'false' }, 500],
    ['a text', 'ann', 401],
    ['true', true, 401],
    ['a number', 1, 401],
    ['a symbol', Symbol('ann'), 401],
    ['a function', () => ({}), 401],
    ['nothing', undefined, 401],
  ]

  test.each(noCallers)('%s is refused', async (_, value, status) => {
    const { session, logger, answer } = ask(() => value as never)
    expect(await answer).toMatchObject({
      status,
      body: { error: { code: status === 500 ? 'caller-invalid' : 'unauthorized' } },
    })
    expect(logger.lines.map(({ level }) => level)).toEqual(status === 500 ? ['error'] : [])
    expect((await storedIn(session)).tables).toEqual([])
  })

  test('an object of a class with fields is one', async () => {
    class User {
      readonly userId = 'ann'
    }
    expect(await ask(() => new User()).answer).toMatchObject({ status: 202 })
  })
})

describe('a hook that does not answer', () => {
  test.each([
    [undefined, 10_000],
    [250, 250],
  ])('in time, with the option %s, is a 503 after %i ms', async (timeoutMs, expected) => {
    const clock = new ManualClock()
    const asked = Promise.withResolvers<AbortSignal>()
    const options = timeoutMs === undefined ? {} : { authenticateTimeoutMs: timeoutMs }
    const late = Promise.withResolvers<never>()
    const { session, logger, answer } = ask(
      (_, { signal }) => {
        asked.resolve(signal)
        return late.promise
      },
      { clock, ...options },
    )
    const signal = await asked.promise
    let isAnswered = false
    void answer.then(() => (isAnswered = true))
    await clock.advance(expected - 1)
    expect([signal.aborted, isAnswered]).toEqual([false, false])
    await clock.advance(1)
    const { status, body, headers } = await answer
    expect([status, body.error.code, signal.aborted]).toEqual([503, 'authentication-timeout', true])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(logger.lines.map(({ level }) => level)).toEqual(['error'])
    // Nobody waits for it any more, and nobody is surprised by it.
    late.reject(new Error(secret))
    expect((await storedIn(session)).tables).toEqual([])
    expect(clock.pendingTimers).toBe(0)
  })

  test('one that answers leaves no timer', async () => {
    const clock = new ManualClock()
    let given: AbortSignal | undefined
    const { answer } = ask((_, { signal }) => ((given = signal), { userId: 'ann' }), { clock })
    expect((await answer).status).toBe(202)
    expect([clock.pendingTimers, given?.aborted]).toEqual([0, false])
  })
})
