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
