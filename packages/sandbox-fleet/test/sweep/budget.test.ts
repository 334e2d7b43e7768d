// What a pass asks of a provider when there is far more to do than it may.
import { describe, expect, test } from 'vitest'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { finish, given, setup } from '../fleet-harness.ts'

async function backlog(count: number, policy = {}) {
  const fleet = setup({ policy })
  for (let n = 0; n < count; n += 1) await given(fleet, `a${n}`)
  return fleet
}

function asked(calls: readonly string[]): number {
  return calls.filter((call) => call.startsWith('inspect ')).length
}

describe('the budget of a pass', () => {
  test('bounds the questions, not only the ends', async () => {
    const { clock, context, driver } = await backlog(1000, { maxBacklogKillsPerPass: 10 })
    const report = await finish(clock, runCleanup(context, 'scheduled'))
    expect(report).toMatchObject({ outcome: 'more', found: 1000, cleaned: 10 })
    // One before each end and one after it.
    expect(asked(driver.calls)).toBe(20)
  })

  test('grows with the backlog, up to a rate', async () => {
    const few = await backlog(150)
    expect((await finish(few.clock, runCleanup(few.context, 'scheduled'))).cleaned).toBe(15)
    const many = await backlog(1000)
    expect((await finish(many.clock, runCleanup(many.context, 'scheduled'))).cleaned).toBe(100)
    const usual = await backlog(90)
    expect((await finish(usual.clock, runCleanup(usual.context, 'scheduled'))).cleaned).toBe(10)
  })

  test('is not used up by sandboxes that are spared when asked about', async () => {
    const fleet = await backlog(60)
    const { clock, context, driver } = fleet
    driver.onInspect = ({ id }) => {
      if (!driver.alive.has(id)) return { state: 'absent' }
      return { state: 'running', ownerAlive: Number(id.slice(1)) < 30 }
    }
    const report = await finish(clock, runCleanup(context, 'scheduled'))
    expect(report.cleaned).toBe(10)
    expect(asked(driver.calls)).toBeLessThanOrEqual(50 + 10)
  })

  test('also bounds the questions about sandboxes that are all spared, and asks about others next', async () => {
    const { clock, context, driver } = await backlog(200)
    driver.onInspect = () => ({ state: 'running', ownerAlive: true })
    await finish(clock, runCleanup({ ...context, random: () => 0 }, 'scheduled'))
    const first = new Set(driver.calls)
    expect(asked(driver.calls)).toBe(100)
    await finish(clock, runCleanup({ ...context, random: () => 0.5 }, 'scheduled'))
    const second = driver.calls.slice(100)
    expect(second.some((call) => !first.has(call))).toBe(true)
  })
})
