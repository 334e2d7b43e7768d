import { type AlertPolicyInput, Fleet, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { parseAlertPolicy } from '../../src/alerts/alert.ts'
import { parseFleetPolicy } from '../../src/safety/fleet-policy.ts'

describe('the limits of alerts', () => {
  test.each([
    ['the default', {}, {}, [9, 6, 9]],
    ['a single place', { maxConcurrentSandboxes: 1 }, {}, [1, 1, 1]],
    ['few places', { maxConcurrentSandboxes: 4 }, {}, [4, 4, 4]],
    ['five places', { maxConcurrentSandboxes: 5 }, {}, [4, 3, 4]],
    ['the runbook', { maxConcurrentSandboxes: 1000 }, {}, [20, 15, 50]],
    ['between', { maxConcurrentSandboxes: 30 }, {}, [20, 15, 29]],
    ['what is given', {}, { leakActive: 4 }, [4, 3, 9]],
    ['all that is given', {}, { leakActive: 4, leakActiveClear: 4, escalateActive: 2 }, [4, 4, 2]],
  ] as const)('limits of %s', (_, policy, alerts, [begin, end, passedOn]) => {
    expect(parseAlertPolicy(alerts, parseFleetPolicy(policy))).toMatchObject({
      leakActive: begin,
      leakActiveClear: end,
      escalateActive: passedOn,
    })
  })

  test.each([
    [1, 2],
    [4, 8],
    [10, 20],
    [1000, 20],
  ])('%i places that all time out do enough operations to be noticed', (places, least) => {
    const policy = parseFleetPolicy({ maxConcurrentSandboxes: places })
    expect(parseAlertPolicy({}, policy).timeoutMinExecutions).toBe(least)
    const given = parseAlertPolicy({ timeoutMinExecutions: 50 }, policy)
    expect(given.timeoutMinExecutions).toBe(50)
  })

  test.each([
    { leakActive: 5, leakActiveClear: 6 },
    { timeoutRatio: 0.01, timeoutRatioClear: 0.02 },
    { leakActive: -1 },
    { leaksActive: 5 },
  ])('refuses %j', (alerts: AlertPolicyInput) => {
    const open = () =>
      new Fleet({ store: new MemoryFleetStore(), drivers: [], environment: 'test', alerts })
    expect(open).toThrow(expect.objectContaining({ code: 'config-invalid' }))
  })
})
