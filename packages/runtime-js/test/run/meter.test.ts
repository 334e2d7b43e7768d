// What a run and its sub-agents have used, what of it is to be stored, and which limit that reaches.
import { type Budget, costByPrices, defineAgent } from '@helix-agents/core'
import { NO_USAGE, runUsageOf } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { Meter, type MeterOptions } from '../../src/run/meter.ts'

const config = { model: 'm' }
const tokens = { inputTokens: 3, outputTokens: 2 }
const called = runUsageOf(tokens)
const costOf = costByPrices({ m: { input: 1_000_000, output: 1_000_000 } })

function meterOf(
  limits: { readonly budget?: Budget; readonly maxDurationMs?: number } = {},
  more: Partial<MeterOptions> = {},
) {
  const clock = new ManualClock(1000)
  const agent = defineAgent({ name: 'a', llmConfig: config, ...limits })
  const meter = new Meter({ agent, clock, before: undefined, isStale: false, ...more })
  return { clock, meter }
}

test('a run has used what it goes on from, what it calls, and its time', async () => {
  const { clock, meter } = meterOf({}, { before: { ...called, durationMs: 70 } })
  expect(meter.elapsedMs).toBe(0)
  meter.count(tokens, config)
  await clock.advance(5)
  expect(meter.elapsedMs).toBe(5)
  expect(meter.usage).toEqual({
    inputTokens: 6,
    outputTokens: 4,
    totalTokens: 10,
    modelCalls: 2,
    durationMs: 75,
  })
  expect(meter.ownUsage).toEqual(called)
  expect(meter.lastUsage).toBe(tokens)
})

test('what is used is to be stored once, and at once when that of an earlier run is there', () => {
  const { meter } = meterOf()
  expect(meter.consumeChange()).toBeUndefined()
  meter.count(tokens, config)
  expect(meter.consumeChange()).toEqual(called)
  expect(meter.consumeChange()).toBeUndefined()
  const stale = meterOf({}, { isStale: true }).meter
  expect(stale.consumeChange()).toEqual(NO_USAGE)
  expect(stale.consumeChange()).toBeUndefined()
})

test('with a limit of time the time is to be stored always', async () => {
  const { clock, meter } = meterOf({ budget: { maxDurationMs: 100 } })
  expect(meter.consumeChange()).toEqual(NO_USAGE)
  await clock.advance(5)
  expect(meter.consumeChange()).toEqual({ ...NO_USAGE, durationMs: 5 })
})

test('what a sub-agent uses is used by its parent, and what it had used before is not of this run', () => {
  const above = meterOf().meter
  const parent = meterOf({}, { parent: above }).meter
  const child = meterOf({}, { parent }).meter
  child.count(tokens, config)
  for (const one of [child, parent, above]) {
    expect([one.usage, one.ownUsage, one.consumeChange()]).toEqual([called, called, called])
  }
  expect([parent.lastUsage, above.lastUsage]).toEqual([undefined, undefined])
  parent.countEarlier(undefined)
  expect(parent.consumeChange()).toBeUndefined()
  parent.countEarlier({ ...called, durationMs: 900 })
  for (const one of [parent, above]) {
    expect(one.ownUsage).toEqual(called)
    expect(one.consumeChange()).toMatchObject({ totalTokens: 10, modelCalls: 2, durationMs: 0 })
  }
  expect(child.consumeChange()).toBeUndefined()
})

test('the limit of a sub-agent is its own, or that of the nearest agent above', () => {
  const spent = { maxTotalTokens: 5 }
  const parent = meterOf({ budget: spent }).meter
  expect(parent.reachedLimit).toBeUndefined()
  const free = meterOf({}, { parent }).meter
  const bound = meterOf({ budget: { maxCost: 5, costOf } }, { parent }).meter
  free.count(tokens, config)
  expect([parent.reachedLimit, free.reachedLimit]).toEqual(['max-tokens', 'max-tokens'])
  expect(bound.reachedLimit).toBe('max-tokens')
  bound.count(tokens, config)
  expect(bound.reachedLimit).toBe('max-cost')
})

test('a call without a price is told by the agents that have a limit of cost', () => {
  // One for the definition of the agent.
  const prices = [1]
  const unpriced = { maxCost: 5, costOf: () => prices.pop() ?? Number.NaN }
  const above = meterOf({ budget: { maxTotalTokens: 99 } }).meter
  const parent = meterOf({ budget: unpriced }, { parent: above }).meter
  const child = meterOf({}, { parent }).meter
  expect([child.costOf, parent.costOf, above.costOf]).toEqual([
    unpriced.costOf,
    unpriced.costOf,
    undefined,
  ])
  child.count(tokens, config)
  expect(parent.reachedLimit).toBe('cost-unknown')
  expect(child.reachedLimit).toBe('cost-unknown')
  expect(above.reachedLimit).toBeUndefined()
  const priced = meterOf({ budget: { maxCost: 99, costOf } })
  priced.meter.count(tokens, config)
  expect(priced.meter.usage.cost).toBe(5)
  expect(priced.meter.reachedLimit).toBeUndefined()
  const none = meterOf()
  none.meter.count(tokens, config)
  expect(none.meter.usage).not.toHaveProperty('cost')
})

test('the time that is left is the shorter of what the run and its budget have', async () => {
  expect(meterOf().meter.timeLeftMs).toBeUndefined()
  expect(meterOf({ maxDurationMs: 40 }).meter.timeLeftMs).toBe(40)
  const before = { ...NO_USAGE, durationMs: 70 }
  const budget = { maxDurationMs: 100 }
  const { clock, meter } = meterOf({ budget }, { before })
  expect(meter.timeLeftMs).toBe(30)
  await clock.advance(10)
  expect(meter.timeLeftMs).toBe(20)
  await clock.advance(30)
  expect(meter.timeLeftMs).toBe(0)
  expect(meterOf({ budget, maxDurationMs: 40 }, { before }).meter.timeLeftMs).toBe(30)
  expect(meterOf({ budget, maxDurationMs: 20 }, { before }).meter.timeLeftMs).toBe(20)
})
