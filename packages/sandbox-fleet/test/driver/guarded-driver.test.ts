import { StateStoreError } from '@helix-agents/core'
import { backoffMs } from '@helix-agents/core/provider'
import { FleetError } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import { GuardedDriver } from '../../src/driver/guarded-driver.ts'
import { FakeDriver, finish } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'

const target = { id: 'a', generation: 1 }

class SettableClock extends ManualClock {
  offsetMs = 0

  override now(): number {
    return super.now() + this.offsetMs
  }
}

function setup(retries = 0) {
  const clock = new SettableClock()
  const driver = new FakeDriver()
  const guarded = new GuardedDriver(driver, {
    clock,
    random: () => 0.5,
    callTimeoutMs: 1000,
    terminateTimeoutMs: 3000,
    retries,
    breakerFailures: 3,
    breakerCooldownMs: 30_000,
  })
  return { clock, driver, guarded }
}

describe('a guarded driver', () => {
  test('tells what the driver tells', async () => {
    const { driver, guarded } = setup()
    driver.alive.set('a', { ownerAlive: true })
    expect(await guarded.inspect(target)).toEqual({ state: 'running', ownerAlive: true })
    expect(await guarded.logs(target)).toBe('logs of a')
    expect((await guarded.list()).isComplete).toBe(true)
  })

  test('a look that fails or hangs is unknown, not absent', async () => {
    const { clock, driver, guarded } = setup()
    driver.onInspect = () => Promise.reject(new Error('no'))
    expect(await guarded.inspect(target)).toMatchObject({ state: 'unknown' })
    driver.onInspect = () => new Promise(() => undefined)
    const hanging = guarded.inspect(target)
    await clock.advance(1000)
    expect(await hanging).toMatchObject({ state: 'unknown' })
  })

  test('a look is tried again, a destroy is not', async () => {
    const { clock, driver, guarded } = setup(1)
    let failures = 1
    driver.onInspect = () => {
      failures -= 1
      if (failures >= 0) throw new Error('once')
      return { state: 'absent' }
    }
    expect(await finish(clock, guarded.inspect(target))).toEqual({ state: 'absent' })
    driver.onTerminate = () => Promise.reject(new Error('no'))
    expect(await codeOf(guarded.terminate(target))).toBe('driver-failed')
    expect(driver.terminated).toHaveLength(1)
  })

  test('a provider that fails all the time is left alone for a while', async () => {
    const { clock, driver, guarded } = setup()
    driver.onTerminate = () => Promise.reject(new Error('no'))
    for (let n = 0; n < 3; n += 1) await codeOf(guarded.terminate(target))
    expect(guarded.isCoolingDown).toBe(true)
    expect(await codeOf(guarded.terminate(target))).toBe('breaker-open')
    expect(await guarded.inspect(target)).toMatchObject({ state: 'unknown' })
    expect(driver.calls).toHaveLength(3)
    await clock.advance(29_999)
    expect(await codeOf(guarded.terminate(target))).toBe('breaker-open')
    await clock.advance(1)
    expect(await codeOf(guarded.terminate(target))).toBe('driver-failed')
    expect(await codeOf(guarded.terminate(target))).toBe('breaker-open')
    await clock.advance(30_000)
    driver.onTerminate = () => undefined
    expect(await codeOf(guarded.terminate(target))).toBe('no error')
    expect(guarded.isCoolingDown).toBe(false)
    expect(await codeOf(guarded.terminate(target))).toBe('no error')
  })

  test('a clock that is set back does not make the rest longer', async () => {
    const { clock, driver, guarded } = setup()
    driver.onTerminate = () => Promise.reject(new Error('no'))
    for (let n = 0; n < 3; n += 1) await codeOf(guarded.terminate(target))
    expect(guarded.isCoolingDown).toBe(true)
    clock.offsetMs = -3_600_000
    expect(guarded.isCoolingDown).toBe(false)
    driver.onTerminate = () => undefined
    expect(await codeOf(guarded.terminate(target))).toBe('no error')
  })

  test('after a rest one call looks, and the others do not follow it one by one', async () => {
    const { clock, driver, guarded } = setup()
    driver.onTerminate = () => Promise.reject(new Error('no'))
    for (let n = 0; n < 3; n += 1) await codeOf(guarded.terminate(target))
    await clock.advance(30_000)
    driver.calls.length = 0
    driver.onTerminate = () => new Promise(() => undefined)
    const all = Promise.all(Array.from({ length: 10 }, () => codeOf(guarded.terminate(target))))
    await clock.advance(60_000)
    expect((await all).toSorted()).toEqual([...Array(9).fill('breaker-open'), 'driver-failed'])
    expect(driver.calls).toHaveLength(1)
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('%s is no measure', async (cpuPercent) => {
    const { driver, guarded } = setup()
    driver.resources = async () => ({ cpuPercent, memoryMb: 1 })
    expect(await codeOf(guarded.resources(target))).toBe('driver-failed')
  })

  test('what a driver cannot do is no failure of its provider', async () => {
    const { driver, guarded } = setup()
    Object.defineProperty(driver, 'logs', { value: undefined })
    for (let n = 0; n < 5; n += 1) expect(await codeOf(guarded.logs(target))).toBe('not-supported')
    expect(guarded.isCoolingDown).toBe(false)
  })

  test('what a driver throws is told without its words', async () => {
    const { driver, guarded } = setup()
    driver.onTerminate = () => Promise.reject(new Error('secret /home/me/key'))
    const error = await guarded.terminate(target).catch((thrown: unknown) => thrown)
    expect(String(error)).not.toContain('secret')
  })
})

describe('what a guarded driver waits for', () => {
  test('between its reads grows, and ends with the last', async () => {
    const { clock, driver, guarded } = setup(2)
    driver.onInspect = () => Promise.reject(new Error('no'))
    const startedAt = clock.now()
    let endedAt = 0
    const look = guarded.inspect(target).then((probe) => {
      endedAt = clock.now()
      return probe
    })
    const asked: number[] = []
    for (let ms = 0; ms < 10_000; ms += 100) {
      await clock.advance(100)
      asked.push(driver.calls.length)
    }
    const first = backoffMs(0, () => 0.5)
    const second = backoffMs(1, () => 0.5)
    expect(await look).toMatchObject({ state: 'unknown' })
    expect(endedAt - startedAt).toBe(first + second)
    expect(asked[first / 100 - 2]).toBe(1)
    expect(asked[first / 100]).toBe(2)
    expect(driver.calls).toHaveLength(3)
  })

  test('is over after its time, and the call is told so', async () => {
    const { clock, driver, guarded } = setup()
    const signals: AbortSignal[] = []
    const hang = (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
      signals.push(signal)
      return new Promise<never>(() => undefined)
    }
    Object.assign(driver, { inspect: hang, terminate: hang })
    const look = guarded.inspect(target)
    const end = guarded.terminate(target).catch((error: unknown) => error)
    await clock.advance(999)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
    await clock.advance(1)
    const detail = 'the provider fake: inspect exceeded 1000 ms'
    expect(await look).toEqual({ state: 'unknown', detail })
    await clock.advance(1999)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    await clock.advance(1)
    const message = 'the provider fake: terminate exceeded 3000 ms'
    expect(await end).toMatchObject({ code: 'driver-failed', message })
    expect(signals[1]?.reason).toMatchObject({ code: 'driver-failed', message })
  })
})

describe('a failure of a driver', () => {
  test('names the sandbox and has what was thrown as its cause, not in its words', async () => {
    const { driver, guarded } = setup()
    const cause = new Error('secret')
    driver.onTerminate = () => Promise.reject(cause)
    await expect(guarded.terminate(target)).rejects.toMatchObject({
      code: 'driver-failed',
      message: 'the provider fake: terminate failed',
      sandboxId: 'a',
      cause,
    })
  })

  test('says what an error of ours says, and a refusal of the fleet stays what it is', async () => {
    const { driver, guarded } = setup()
    driver.logs = () => Promise.reject(new StateStoreError('unavailable', '', 'it is away'))
    await expect(guarded.logs(target)).rejects.toMatchObject({
      code: 'driver-failed',
      message: expect.stringContaining('logs failed: it is away'),
    })
    const refusal = new FleetError('unknown-sandbox', 'no sandbox a is known')
    driver.logs = () => Promise.reject(refusal)
    await expect(guarded.logs(target)).rejects.toBe(refusal)
  })

  test('is not tried again when it is a refusal', async () => {
    const { driver, guarded } = setup(3)
    driver.logs = async () => {
      driver.calls.push('logs')
      throw new FleetError('unknown-sandbox', 'no sandbox a is known')
    }
    expect(await codeOf(guarded.logs(target))).toBe('unknown-sandbox')
    expect(driver.calls).toHaveLength(1)
  })

  test('a probe says what went wrong, and why', async () => {
    const { driver, guarded } = setup()
    driver.onInspect = () => Promise.reject(new Error('no', { cause: new Error('deep') }))
    expect(await guarded.inspect(target)).toEqual({
      state: 'unknown',
      detail: 'the provider fake: inspect failed (Error: no <- Error: deep)',
    })
  })

  test.each([
    ['list', 'its list is none', (driver: FakeDriver) => (driver.list = async () => 7 as never)],
    ['logs', 'logs are no text', (driver: FakeDriver) => (driver.logs = async () => 7 as never)],
    [
      'resources',
      'resources are no numbers',
      (driver: FakeDriver) => (driver.resources = async () => ({ cpuPercent: 1, memoryMb: -1 })),
    ],
  ] as const)('%s: %s', async (name, detail, change) => {
    const { driver, guarded } = setup()
    change(driver)
    const work = name === 'list' ? guarded.list() : guarded[name](target)
    const message = `the provider fake: ${detail}`
    await expect(work).rejects.toMatchObject({ code: 'driver-failed', message })
  })
})

describe('what a driver cannot do', () => {
  test.each(['list', 'logs', 'resources'] as const)('%s', async (name) => {
    const { driver } = setup()
    Object.defineProperty(driver, name, { value: undefined })
    const { clock } = setup()
    const options = { clock, random: Math.random, callTimeoutMs: 1, terminateTimeoutMs: 1 }
    const breaker = { retries: 0, breakerFailures: 1, breakerCooldownMs: 1 }
    const guarded = new GuardedDriver(driver, { ...options, ...breaker })
    expect(guarded.canList).toBe(name !== 'list')
    expect(guarded.canSample).toBe(name !== 'resources')
    const work = name === 'list' ? guarded.list() : guarded[name](target)
    const message = `the provider fake does not support ${name}`
    await expect(work).rejects.toMatchObject({ code: 'not-supported', message })
    expect(guarded.isCoolingDown).toBe(false)
  })

  test('is not measured by passes where a measurement costs something', () => {
    const { driver, guarded } = setup()
    expect(guarded.canSample).toBe(true)
    Object.assign(driver, { isMeasuredOnRequest: true })
    expect(guarded.canSample).toBe(false)
  })

  test('measures of nothing are measures', async () => {
    const { driver, guarded } = setup()
    driver.resources = async () => ({ cpuPercent: 0, memoryMb: 0 })
    expect(await guarded.resources(target)).toEqual({ cpuPercent: 0, memoryMb: 0 })
  })
})
