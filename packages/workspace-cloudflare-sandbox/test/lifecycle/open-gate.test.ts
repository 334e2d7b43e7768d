import { ManualClock } from '@helix-agents/core/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import { OpenGate } from '../../src/lifecycle/open-gate.ts'
import { asleep, unavailable } from '../double/memory-driver.ts'
import { Bench } from '../double/open-on-double.ts'

let clock: ManualClock
beforeEach(() => {
  clock = new ManualClock()
})

const wait = () => ({ signal: new AbortController().signal, clock })

/** Lets promise chains run to their next real wait. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

/** Whether a promise is settled by now. */
function follow(promise: Promise<unknown>): { readonly isDone: boolean } {
  const progress = { isDone: false }
  void promise.then(() => (progress.isDone = true))
  return progress
}

const full = unavailable({ reason: 'capacity', retryAfterMs: 5000 })

async function refuse(gate: OpenGate): Promise<void> {
  await gate.run(() => Promise.reject(full), wait()).catch(() => undefined)
}

describe('after an open that found no room', () => {
  test('the next one waits as long as was asked for', async () => {
    const gate = new OpenGate(undefined)
    await refuse(gate)
    let isOpen = false
    const open = gate.run(async () => void (isOpen = true), wait())
    await settle()
    await clock.advance(4999)
    expect(isOpen).toBe(false)
    await clock.advance(1)
    await open
    expect(isOpen).toBe(true)
  })

  test('others go one at a time until one succeeds', async () => {
    const gate = new OpenGate(undefined)
    await refuse(gate)
    await clock.advance(5000)
    let active = 0
    let most = 0
    const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
    const opens = gates.map(({ promise }) =>
      gate.run(async () => {
        active += 1
        most = Math.max(most, active)
        await promise
        active -= 1
      }, wait()),
    )
    await settle()
    expect(active).toBe(1)
    for (const { resolve } of gates) resolve()
    await Promise.all(opens)
    expect(most).toBe(1)
    const together = Promise.withResolvers<void>()
    const later = [1, 2, 3].map(() =>
      gate.run(async () => {
        active += 1
        await together.promise
      }, wait()),
    )
    await settle()
    expect(active).toBe(3)
    together.resolve()
    await Promise.all(later)
  })

  test('one that succeeds ends the pause for those who wait, and waits begin anew', async () => {
    const gate = new OpenGate(undefined)
    const plain = unavailable({ reason: 'capacity' })
    const refusePlainly = async (): Promise<void> => {
      await gate.run(() => Promise.reject(plain), wait()).catch(() => undefined)
    }
    await refusePlainly()
    await clock.advance(2000)
    await refusePlainly()
    await clock.advance(4000)
    expect(await gate.run(async () => 'open', wait())).toBe('open')
    await refusePlainly()
    const progress = follow(gate.run(async () => 'open', wait()))
    await settle()
    await clock.advance(1999)
    expect(progress.isDone).toBe(false)
    await clock.advance(1)
    await settle()
    expect(progress.isDone).toBe(true)
  })

  test('those who wait in turn go at once when there is room again', async () => {
    clock = new ManualClock(0)
    const gate = new OpenGate(undefined)
    const now = unavailable({ reason: 'capacity', retryAfterMs: 0 })
    await gate.run(() => Promise.reject(now), wait()).catch(() => undefined)
    const opens = [1, 2].map((id) => gate.run(async () => id, wait()))
    await settle()
    expect(await Promise.all(opens)).toEqual([1, 2])
    expect(clock.pendingTimers).toBe(0)
  })

  test('no wait is longer than a minute', async () => {
    const gate = new OpenGate(undefined)
    const long = unavailable({ reason: 'capacity', retryAfterMs: 3_600_000 })
    await gate.run(() => Promise.reject(long), wait()).catch(() => undefined)
    const progress = follow(gate.run(async () => 'open', wait()))
    await settle()
    await clock.advance(59_999)
    expect(progress.isDone).toBe(false)
    await clock.advance(1)
    await settle()
    expect(progress.isDone).toBe(true)
  })

  test('one that waits can be aborted', async () => {
    const gate = new OpenGate(undefined)
    await refuse(gate)
    const controller = new AbortController()
    const open = gate.run(async () => 1, { signal: controller.signal, clock })
    await settle()
    controller.abort(new Error('not wanted any more'))
    await expect(open).rejects.toThrow('not wanted any more')
  })

  test('without a time it waits longer each time, within a bound', async () => {
    const gate = new OpenGate(undefined)
    const plain = unavailable({ reason: 'capacity' })
    const waits: number[] = []
    for (let round = 0; round < 8; round += 1) {
      const before = clock.now()
      const attempt = gate.run(() => Promise.reject(plain), wait()).catch(() => undefined)
      const progress = follow(attempt)
      await settle()
      while (!progress.isDone) await clock.advance(500)
      waits.push(clock.now() - before)
    }
    expect(waits).toEqual([0, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  })
})

test('other errors slow nothing down', async () => {
  const gate = new OpenGate(undefined)
  await gate.run(() => Promise.reject(asleep()), wait()).catch(() => undefined)
  expect(await gate.run(async () => 'open', wait())).toBe('open')
})

test('the bound of the provider holds over all sessions', async () => {
  const bench = new Bench({}, { maxGlobalConcurrentOpens: 2 })
  const blocked: (() => void)[] = []
  let [active, most] = [0, 0]
  bench.world.onCall = async ({ name }) => {
    if (name !== 'ensure') return
    active += 1
    most = Math.max(most, active)
    await new Promise<void>((resolve) => blocked.push(resolve))
    active -= 1
  }
  const opens = [1, 2, 3, 4, 5].map((id) => bench.open({ sessionId: `session-${id}` }))
  const all = Promise.all(opens)
  const progress = follow(all)
  while (!progress.isDone) {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    blocked.shift()?.()
  }
  expect(most).toBe(2)
})

test('a full platform is transient, with the time it asks for', async () => {
  const bench = new Bench()
  bench.world.onCall = () => {
    throw full
  }
  await expect(bench.open()).rejects.toMatchObject({
    code: 'provider-failed',
    transient: true,
    retryAfterMs: 5000,
  })
})
