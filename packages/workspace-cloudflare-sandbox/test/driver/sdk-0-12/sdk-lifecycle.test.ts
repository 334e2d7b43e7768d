// What is asked of the platform about a container, and what is made of each answer.
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, it } from 'vitest'
import { DriverError } from '../../../src/driver/driver-error.ts'
import type { MountRequest } from '../../../src/driver/port.ts'
import type { ContainerLink } from '../../../src/driver/remote/container-link.ts'
import type { SdkCalls } from '../../../src/driver/sdk-0-12/sdk-calls.ts'
import { SdkLifecycle, type StateStub } from '../../../src/driver/sdk-0-12/sdk-lifecycle.ts'

type Method = 'getState' | 'getContainerPlacementId' | 'destroy' | 'mountBucket'
type Answers = Partial<Record<Method, (...args: unknown[]) => unknown>>

const QUICK = { deadlineMs: 15_000, isRepeatable: true }
const state = (status: string) => async () => ({ status })
const fails = (error: unknown) => async (): Promise<never> => {
  throw error
}

/** A lifecycle over a stub of these answers. */
function lifecycle(answers: Answers, glance?: Answers) {
  const clock = new ManualClock()
  const made: (readonly [name: string, ...rest: unknown[]])[] = []
  const stub = new Proxy(
    {},
    {
      get:
        (_, name: Method) =>
        async (...args: unknown[]) => {
          made.push([name, ...args])
          return answers[name]?.(...args)
        },
    },
  )
  const options: unknown[] = []
  const calls = {
    make: (call: (at: unknown) => Promise<unknown>, option: unknown) => {
      options.push(option)
      return call(stub)
    },
  } as unknown as SdkCalls
  const link = { epoch: 'e7' } as ContainerLink
  const parts = { calls, link, clock, glance: () => glance as unknown as StateStub | undefined }
  return { clock, link, made, options, lifecycle: new SdkLifecycle(parts) }
}

const request: MountRequest = { bucket: 'B', path: '/mnt' }
const mounting = (message: string) => {
  const error = new DriverError('failed', 'x', { admitted: 'yes', cause: new Error(message) })
  return { error, mounted: lifecycle({ mountBucket: fails(error) }).lifecycle.mount(request) }
}

describe('the identity of a container', () => {
  it.each([
    ['running', true],
    ['healthy', true],
    ['stopped', false],
    ['stopped_with_code', false],
    ['stopping', 'unknown'],
  ])('of state %s runs: %s', async (status, running) => {
    const { lifecycle: on, options } = lifecycle({
      getState: state(status),
      getContainerPlacementId: async () => 'p1',
    })
    expect(await on.identity()).toEqual({ placement: 'p1', running })
    expect(options).toEqual([QUICK, QUICK])
  })
  it('is not known where the platform does not say', async () => {
    const failing = { getState: fails(new Error('x')), getContainerPlacementId: fails('x') }
    const unknown = { placement: null, running: 'unknown' }
    expect(await lifecycle(failing).lifecycle.identity()).toEqual(unknown)
    const silent = { getState: state('running'), getContainerPlacementId: async () => undefined }
    expect((await lifecycle(silent).lifecycle.identity()).placement).toBeNull()
  })
  it('is asked of a glance where there is one', async () => {
    const glance = { getState: state('stopped'), getContainerPlacementId: async () => 'p2' }
    const { lifecycle: on, made } = lifecycle({}, glance)
    expect(await on.identity()).toEqual({ placement: 'p2', running: false })
    expect(made).toEqual([])
  })
})

/** A container that is new, at this place. */
function opened(placement: unknown) {
  const on = lifecycle({ getContainerPlacementId: async () => placement })
  const ran: unknown[] = []
  Object.assign(on.link, {
    createNonce: () => '7',
    settings: { root: '/workspace', scratch: '/scratch' },
    clock: on.clock,
    runner: {
      run: async (_script: string, call: unknown) => {
        ran.push(call)
        return { stdout: '\n%7 kept e8\n', stderr: '', exitCode: 0 }
      },
    },
  })
  return { ...on, ran }
}

describe('a container that is opened', () => {
  it('has its mark and its place', async () => {
    const { signal } = new AbortController()
    for (const [given, placement] of [
      ['p1', 'p1'],
      [undefined, null],
    ]) {
      const { lifecycle: on, link, options, ran } = opened(given)
      const ensured = { outcome: 'cold', epoch: 'e8', placement }
      expect(await on.ensure({ knownEpoch: 'e7', signal })).toEqual(ensured)
      expect(link.epoch).toBe('e8')
      expect([options, ran]).toEqual([
        [{ deadlineMs: 60_000, isRepeatable: true, signal }],
        [{ deadlineMs: 60_000, isRepeatable: true, signal }],
      ])
    }
  })
})

describe('the end of a container', () => {
  it('is that of one that ran, or of none', async () => {
    for (const [before, outcome] of [
      ['running', 'destroyed'],
      ['stopping', 'destroyed'],
      ['stopped', 'was-absent'],
    ] as const) {
      const states = [before, 'stopped']
      const {
        lifecycle: on,
        link,
        made,
        options,
      } = lifecycle({
        getState: async () => ({ status: states.shift() ?? 'stopped' }),
      })
      expect(await on.destroy()).toBe(outcome)
      expect(made.map(([name]) => name)).toEqual(['getState', 'destroy', 'getState'])
      expect(options).toEqual([QUICK, { deadlineMs: 60_000, isRepeatable: true }, QUICK])
      expect(link.epoch).toBe('')
    }
  })
  it('is awaited for half a minute', async () => {
    const { clock, lifecycle: on, link, made } = lifecycle({ getState: state('running') })
    const ended = on.destroy().catch((error: unknown) => error)
    await clock.advance(29_999)
    expect([made.length, clock.pendingTimers]).toEqual([62, 1])
    await clock.advance(1)
    expect(await ended).toMatchObject({
      code: 'destroy-unconfirmed',
      admitted: 'unknown',
      message: 'the platform did not confirm the end of the sandbox',
    })
    expect(link.epoch).toBe('')
  })
  it('is confirmed once the platform says so', async () => {
    const states = ['running', 'running', 'unknown', 'stopped']
    const { clock, lifecycle: on } = lifecycle({
      getState: async () => ({ status: states.shift() }),
    })
    const ended = on.destroy()
    await clock.advance(1000)
    expect(await ended).toBe('destroyed')
  })
  it('that failed is not confirmed, although nothing runs', async () => {
    const cause = new Error('no')
    const { lifecycle: on } = lifecycle({ getState: state('stopped'), destroy: fails(cause) })
    await expect(on.destroy()).rejects.toMatchObject({ code: 'destroy-unconfirmed', cause })
  })
  it('says that the object was replaced', async () => {
    const replaced = new DriverError('replaced', 'x', { admitted: 'unknown' })
    await expect(lifecycle({ getState: fails(replaced) }).lifecycle.destroy()).rejects.toBe(
      replaced,
    )
    const states = [fails(new Error('x')), state('stopped')]
    const { lifecycle: on } = lifecycle({ getState: () => states.shift()?.() })
    expect(await on.destroy()).toBe('destroyed')
  })
})

describe('a mount', () => {
  it.each<[Partial<MountRequest>, object]>([
    [{}, {}],
    [
      { prefix: '//a/b/', readOnly: false },
      { prefix: '/a/b/', readOnly: false },
    ],
    [
      { local: true, endpoint: 'https://e', readOnly: true },
      { readOnly: true, localBucket: true },
    ],
    [{ endpoint: 'https://e' }, { endpoint: 'https://e', credentialProxy: true }],
  ])('with %j asks for %j', async (more, expected) => {
    const { lifecycle: on, made, options } = lifecycle({})
    await on.mount({ ...request, ...more })
    expect(made).toEqual([['mountBucket', 'B', '/mnt', expected]])
    expect(options).toEqual([{ deadlineMs: 60_000, isRepeatable: false }])
  })
  it('that is there already is fine; other failures are not', async () => {
    await mounting('Mount path "/mnt" is already in use').mounted
    const { error, mounted } = mounting('no such bucket')
    await expect(mounted).rejects.toBe(error)
  })
})
