// What a handle says of a session that this process does not run, and how it stops one.
import { defineAgent } from '@helix-agents/core'
import { NO_USAGE, type SessionState } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { createHandle } from '../../src/executor/agent-handle.ts'
import type { RunServices } from '../../src/ports.ts'
import { settle } from '../harness.ts'

const NOW = 1000
const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const usage = { ...NO_USAGE, totalTokens: 3 }

interface Given {
  readonly session?: Partial<SessionState> | null
  /** A run of this process. */
  readonly live?: object
  readonly isRunning?: boolean
}

function worldOf({ session = {}, live, isRunning = true }: Given) {
  const events: unknown[] = []
  const started = Promise.withResolvers<void>()
  const stored = session === null ? null : { sessionId: 's', runId: 'r', stepCount: 2, ...session }
  const control = {
    stop: (cause: string) => void events.push(`stop ${cause}`),
    interrupt: () => void events.push('interrupt'),
  }
  const services = {
    active: {
      untilStarted: (id: string) => (events.push(`start of ${id}`), started.promise),
      get: () => live && { control, ...live },
      isRunning: () => isRunning,
    },
    stateStore: {
      loadSession: async () => stored,
      listRequests: async () => ({ items: [{ requestId: 'q' }] }),
      requestStop: async (...stop: unknown[]) => {
        await settle()
        events.push(stop)
      },
    },
    clock: new ManualClock(NOW),
    turnQueue: undefined,
  } as unknown as RunServices
  const actions = {
    resume: async (options: object) => (events.push(['resume', options]), undefined as never),
    abortSession: async () => {
      await settle()
      events.push('end session')
    },
  }
  const handle = createHandle({ services, agent, sessionId: 's', runId: 'r', actions })
  return { handle, events, start: () => started.resolve() }
}

describe('the result of a session', () => {
  const base = { sessionId: 's', runId: 'r', stepCount: 2, usage }
  const error = { code: 'x', message: 'y' }

  test.each<readonly [Partial<SessionState>, object]>([
    [
      { status: 'completed', output: 7, usage },
      { ...base, output: 7 },
    ],
    [{ status: 'completed' }, { ...base, usage: NO_USAGE, output: undefined }],
    [
      { status: 'waiting', usage },
      { ...base, requests: [{ requestId: 'q' }] },
    ],
    [
      { status: 'failed', error, usage },
      { ...base, error },
    ],
    [
      { status: 'failed', usage },
      { ...base, error: { code: 'internal', message: 'the run failed' } },
    ],
    [{ status: 'interrupted', usage, error }, base],
    [{ status: 'aborted', usage }, base],
  ])('%j is %j', async (session, expected) => {
    const result = await worldOf({ session }).handle.result()
    expect(result).toStrictEqual({ ...expected, status: session.status })
  })

  test.each<readonly [Partial<SessionState> | null]>([
    [null],
    [{ status: 'idle' }],
    [{ status: 'completed', runId: undefined as never }],
  ])('%j has none', async (session) => {
    await expect(worldOf({ session }).handle.result()).rejects.toMatchObject({
      code: 'not-resumable',
      message: 'session s: it has not run yet',
    })
  })

  test('that runs is that of its run; one whose process died has none', async () => {
    const live = { done: Promise.resolve({ status: 'completed', output: 'live' }) }
    const session = { status: 'running' } as const
    expect(await worldOf({ session, live }).handle.result()).toMatchObject({ output: 'live' })
    await expect(worldOf({ session }).handle.result()).rejects.toMatchObject({
      code: 'already-running',
    })
  })
})

const held = { status: 'running', leaseUntil: NOW + 1 } as const
const over = { status: 'running', leaseUntil: NOW } as const

describe('a stop waits for a start that is under way, and then', () => {
  test.each<readonly [string, Given, readonly unknown[]]>([
    ['stops a run of this process', { live: {} }, ['stop aborted']],
    ['tells the process that has it', { session: held }, [['s', 'abort']]],
    ['ends the session of one that died', { session: over }, ['end session']],
    ['ends one that runs without a lease', { session: { status: 'running' } }, ['end session']],
    ['ends one that does not run', { session: { status: 'failed' } }, ['end session']],
    ['ends one with an old lease', { session: { ...held, status: 'failed' } }, ['end session']],
  ])('an abort %s', async (_, given, expected) => {
    const { handle, events, start } = worldOf(given)
    const aborting = handle.abort()
    await settle()
    expect(events).toEqual(['start of s'])
    start()
    await aborting
    expect(events.slice(1)).toEqual(expected)
  })

  test.each<readonly [string, Given, readonly unknown[]]>([
    ['interrupts a run of this process', { live: {} }, ['interrupt']],
    ['tells the process that has it', { session: held }, [['s', 'interrupt']]],
  ])('an interrupt %s', async (_, given, expected) => {
    const { handle, events, start } = worldOf(given)
    const interrupting = handle.interrupt()
    await settle()
    expect(events).toEqual(['start of s'])
    start()
    await interrupting
    expect(events.slice(1)).toEqual(expected)
  })

  test.each<readonly [string, Given]>([
    ['its run is over, though not its stream', { live: {}, isRunning: false, session: held }],
    ['its process died', { session: over }],
    ['it does not run', { session: { status: 'completed' } }],
    ['there is none', { session: null }],
  ])('an interrupt is refused when %s', async (_, given) => {
    const { handle, events, start } = worldOf(given)
    start()
    await expect(handle.interrupt()).rejects.toMatchObject({
      code: 'not-running',
      message: 'session s: no run of it is under way',
    })
    expect(events).toEqual(['start of s'])
  })
})

test('it is resumed with what is asked for', async () => {
  const { handle, events } = worldOf({})
  await handle.resume()
  await handle.resume({ message: 'x' })
  expect(events).toEqual([
    ['resume', {}],
    ['resume', { message: 'x' }],
  ])
  expect([handle.sessionId, handle.runId]).toEqual(['s', 'r'])
})
