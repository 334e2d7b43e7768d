// The numbers of a fleet: what holds when nobody says otherwise, and what is no policy.
import { describe, expect, test } from 'vitest'
import { type FleetPolicy, MIN_GRACE_MS, parseFleetPolicy } from '../../src/safety/fleet-policy.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

const DEFAULTS: FleetPolicy = {
  graceMs: 2 * MINUTE_MS,
  warnAfterMs: 5 * MINUTE_MS,
  stuckAfterMs: 10 * MINUTE_MS,
  provisionTimeoutMs: 2 * MINUTE_MS,
  maxHoldMs: 4 * HOUR_MS,
  holdWarningMs: 15 * MINUTE_MS,
  ownerLeaseMs: 2 * MINUTE_MS,
  detachedRetentionMs: 7 * DAY_MS,
  poolRetentionMs: 5 * MINUTE_MS,
  clockSkewMs: 10 * SECOND_MS,
  maxConcurrentSandboxes: 10,
  pressureRatio: 0.8,
  pressureIdleMs: MINUTE_MS,
  maxKillsPerPass: 10,
  maxBacklogKillsPerPass: 100,
  maxEmergencyKills: 100,
  maxRetriesPerPass: 20,
  maxExaminedPerPass: 1000,
  concurrency: 4,
  passTimeoutMs: 4 * MINUTE_MS,
  sweepLeaseMs: 2 * MINUTE_MS,
  sweepIntervalMs: 5 * MINUTE_MS,
  reconcileIntervalMs: HOUR_MS,
  callTimeoutMs: 10 * SECOND_MS,
  terminateTimeoutMs: 30 * SECOND_MS,
  callRetries: 1,
  breakerFailures: 5,
  breakerCooldownMs: 30 * SECOND_MS,
  destroyRetryMs: 5 * SECOND_MS,
  destroyRetryMaxMs: 5 * MINUTE_MS,
  operationTimeoutMs: 5 * MINUTE_MS,
  repeatedTimeouts: 3,
  tombstoneMs: 30 * DAY_MS,
}

test('holds when nothing is said, with no longest life and no proof of a lease', () => {
  expect(parseFleetPolicy()).toEqual(DEFAULTS)
  expect(parseFleetPolicy({})).toEqual(DEFAULTS)
})

/** The smallest and the largest value of each number, and the nearest that are none. */
const RANGES: readonly (readonly [keyof FleetPolicy, accepted: number[], refused: number[]])[] = [
  ['graceMs', [MINUTE_MS, MINUTE_MS + 0.5], [MINUTE_MS - 1, 0]],
  ['clockSkewMs', [0, 0.5], [-1]],
  ['leaseProofMs', [0, 0.5], [-1]],
  ['pressureRatio', [Number.MIN_VALUE, 1], [0, 1.001]],
  ['callRetries', [0, 1], [-1, 0.5]],
  ...rangesOf(
    (name) => name.endsWith('Ms') && !['graceMs', 'clockSkewMs', 'leaseProofMs'].includes(name),
    [Number.MIN_VALUE, Number.MAX_VALUE],
    [0, -1],
  ),
  ...rangesOf(
    (name) => !/Ms$|Ratio$|^callRetries$/.test(name),
    [1, Number.MAX_SAFE_INTEGER],
    [0, 1.5],
  ),
]

function rangesOf(isOne: (name: string) => boolean, accepted: number[], refused: number[]) {
  const names = [...Object.keys(DEFAULTS), 'maxLifetimeMs', 'leaseProofMs'] as (keyof FleetPolicy)[]
  return names.filter(isOne).map((name) => [name, accepted, refused] as const)
}

describe('a number of the policy', () => {
  test('is one of every field', () => {
    expect(RANGES.map(([name]) => name).toSorted()).toEqual(
      [...Object.keys(DEFAULTS), 'maxLifetimeMs', 'leaseProofMs'].toSorted(),
    )
  })

  test.each(RANGES)('%s has its range, and none is endless', (name, accepted, refused) => {
    for (const value of accepted) expect(parseFleetPolicy({ [name]: value })[name]).toBe(value)
    for (const value of [...refused, Infinity, Number.NaN, '1', null]) {
      expect(() => parseFleetPolicy({ [name]: value })).toThrow(
        expect.objectContaining({ code: 'config-invalid' }),
      )
    }
  })
})

test('the grace of a sandbox is a minute at least', () => {
  expect(MIN_GRACE_MS).toBe(MINUTE_MS)
})

test('what is no policy is named, each field of it', () => {
  const wrong = { graceMs: 1, concurrency: 0, unheardOf: 1 }
  expect(() => parseFleetPolicy(wrong)).toThrow(/graceMs: .*; concurrency: .*unheardOf/)
})
