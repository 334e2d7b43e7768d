import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, it } from 'vitest'
import { SdkCalls } from '../../../src/driver/sdk-0-12/sdk-calls.ts'
import type { SandboxStub } from '../../../src/driver/sdk-0-12/stub.ts'

const never = (): Promise<never> => new Promise(() => {})
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}
const CALL = { deadlineMs: 60_000, isRepeatable: false }

interface World {
  readonly calls: SdkCalls
  readonly clock: ManualClock
  readonly made: { stubs: number }
  state: () => Promise<{ status: string; lastChange: number }>
}

function world(): World {
  const clock = new ManualClock()
  const made = { stubs: 0 }
  const here = { clock, made, state: never } as unknown as World
  const connect = async (): Promise<SandboxStub> => {
    made.stubs += 1
    return { getState: () => here.state() } as unknown as SandboxStub
  }
  const liveness = { intervalMs: 5000, silenceMs: 10_000 }
  return Object.assign(here, {
    calls: new SdkCalls({ connect, clock, liveness, startAllowanceMs: 150_000 }),
  })
}

async function pass(clock: ManualClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await clock.advance(1000)
    await turns()
  }
}

/** What a promise did by now. */
function watch(promise: Promise<unknown>): { state: unknown } {
  const seen: { state: unknown } = { state: 'pending' }
  promise.then(
    (value) => (seen.state = value),
    (error: unknown) => (seen.state = error),
  )
  return seen
}

describe('a pending call', () => {
  it('ends ten seconds after its container died', async () => {
    const here = world()
    here.state = async () => ({ status: 'healthy', lastChange: 0 })
    const seen = watch(here.calls.make(never, CALL))
    await pass(here.clock, 12)
    here.state = async () => ({ status: 'stopped_with_code', lastChange: here.clock.now() })
    await pass(here.clock, 8)
    expect(seen.state).toBe('pending')
    await pass(here.clock, 10)
    expect(seen.state).toMatchObject({ code: 'interrupted', admitted: 'unknown' })
  })

  it('ends when the object itself is silent', async () => {
    const here = world()
    here.state = never
    const seen = watch(here.calls.make(never, CALL))
    await pass(here.clock, 14)
    expect(seen.state).toBe('pending')
    await pass(here.clock, 2)
    expect(seen.state).toMatchObject({ code: 'interrupted' })
  })

  it('survives a short silence', async () => {
    const here = world()
    here.state = async () => ({ status: 'healthy', lastChange: 0 })
    const seen = watch(here.calls.make(never, CALL))
    await pass(here.clock, 6)
    here.state = () => Promise.reject(new Error('lost'))
    await pass(here.clock, 6)
    here.state = async () => ({ status: 'healthy', lastChange: 0 })
    await pass(here.clock, 40)
    expect(seen.state).toBe('pending')
  })

  it('waits for a container that starts, and no longer than it may take', async () => {
    const here = world()
    here.state = async () => ({ status: 'running', lastChange: here.clock.now() })
    const seen = watch(here.calls.make(never, CALL))
    await pass(here.clock, 200)
    expect(seen.state).toBe('pending')
    await pass(here.clock, 15)
    expect(seen.state).toMatchObject({ code: 'interrupted' })
  })

  it('ends at its deadline when the container lives', async () => {
    const here = world()
    here.state = async () => ({ status: 'healthy', lastChange: 0 })
    const seen = watch(here.calls.make(never, CALL))
    await pass(here.clock, 61)
    expect(seen.state).toMatchObject({ code: 'interrupted', admitted: 'unknown' })
  })

  it('ends with the reason of its signal', async () => {
    const here = world()
    const controller = new AbortController()
    const seen = watch(here.calls.make(never, { ...CALL, signal: controller.signal }))
    controller.abort('enough')
    await turns()
    expect(seen.state).toBe('enough')
  })
})

const refused = (admitted: boolean | string, retryable: boolean): Error =>
  Object.assign(new Error('x'), {
    errorResponse: {
      code: 'OPERATION_INTERRUPTED',
      context: { reason: 'runtime_replaced', admitted, retryable },
    },
  })

describe('a failed call', () => {
  it.each([
    [false, true, false, 2],
    [false, false, false, 1],
    ['unknown', true, false, 1],
    ['unknown', true, true, 2],
    [true, false, true, 2],
    [true, true, false, 1],
  ])(
    'admitted %s, retryable %s, repeatable %s is made %i times',
    async (admitted, retryable, isRepeatable, times) => {
      const here = world()
      let count = 0
      const call = async (): Promise<never> => {
        count += 1
        throw refused(admitted, retryable)
      }
      await expect(here.calls.make(call, { ...CALL, isRepeatable })).rejects.toMatchObject({
        code: 'interrupted',
      })
      expect([count, here.made.stubs]).toEqual([times, times])
    },
  )

  it('honours the delay that the platform asks for', async () => {
    const here = world()
    let count = 0
    const call = async (): Promise<string> => {
      count += 1
      if (count > 1) return 'done'
      throw Object.assign(new Error('x'), {
        errorResponse: {
          code: 'CONTAINER_UNAVAILABLE',
          context: { reason: 'container_starting', retryAfterMs: 2000 },
        },
      })
    }
    const seen = watch(here.calls.make(call, CALL))
    await pass(here.clock, 1)
    expect([seen.state, count]).toEqual(['pending', 1])
    await pass(here.clock, 1)
    expect([seen.state, count]).toEqual(['done', 2])
  })
})

it('a call that is not wanted any more is not made', async () => {
  const { calls, made } = world()
  let count = 0
  const call = async (): Promise<void> => {
    count += 1
  }
  const signal = AbortSignal.abort(new Error('stopped'))
  await expect(calls.make(call, { ...CALL, signal })).rejects.toThrow('stopped')
  expect([count, made.stubs]).toEqual([0, 0])
})
