import { WorkspaceFailedError } from '@helix-agents/core'
import { healthSignals, type WorkspaceDescription } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import { codeOf, once, setup } from './harness.ts'

const NOW = 10_000_000
const minutes = (count: number): number => count * 60_000

function entry(changes: Partial<WorkspaceDescription> = {}): WorkspaceDescription {
  return {
    name: 'box',
    providerId: 'fake',
    state: 'open',
    stateSince: NOW - minutes(60),
    capabilities: { fs: true },
    evictions: 0,
    retries: 0,
    ...changes,
  }
}

const signalsOf = (changes: Partial<WorkspaceDescription>, thresholds = {}) =>
  healthSignals([{ sessionId: 's1', workspaces: [entry(changes)] }], NOW, thresholds)

const place = { sessionId: 's1', workspace: 'box', providerId: 'fake' }

describe('a workspace that stays failed or evicted', () => {
  test.each([
    ['failed', 5],
    ['evicted', 10],
  ] as const)('%s is told after %i minutes', (state, limit) => {
    expect(signalsOf({ state, stateSince: NOW - minutes(limit) })).toEqual([])
    const forMs = minutes(limit) + 1
    expect(signalsOf({ state, stateSince: NOW - forMs, lastErrorCode: 'x' })).toEqual([
      { kind: state, forMs, lastErrorCode: 'x', ...place },
    ])
  })

  test.each(['declared', 'opening', 'open', 'closing', 'closed'] as const)(
    '%s may last',
    (state) => {
      expect(signalsOf({ state })).toEqual([])
    },
  )

  test('the times are options', () => {
    const since = { stateSince: NOW - 11 }
    expect(signalsOf({ state: 'failed', ...since }, { failedMs: 10 })).toHaveLength(1)
    expect(signalsOf({ state: 'failed', ...since }, { failedMs: 11 })).toEqual([])
    expect(signalsOf({ state: 'evicted', ...since }, { evictedMs: 10 })).toHaveLength(1)
  })
})

describe('a workspace that is used and never succeeds', () => {
  const tried = { lastSuccessAt: NOW - minutes(30), lastAttemptAt: NOW }

  test('is told when its attempts have gone on for long', () => {
    const unsuccessfulSince = NOW - minutes(2) - 1
    expect(signalsOf({ ...tried, unsuccessfulSince })).toEqual([
      { kind: 'unsuccessful', forMs: minutes(2) + 1, ...place },
    ])
    expect(signalsOf({ ...tried, unsuccessfulSince: NOW - minutes(2) })).toEqual([])
    expect(signalsOf({ ...tried, unsuccessfulSince }, { unsuccessfulMs: minutes(3) })).toEqual([])
  })

  test('also one that has never succeeded', () => {
    const attempts = { lastAttemptAt: NOW, unsuccessfulSince: NOW - minutes(3) }
    expect(signalsOf(attempts)).toMatchObject([{ kind: 'unsuccessful', forMs: minutes(3) }])
  })

  test('one failure after a long rest is not that', () => {
    expect(signalsOf({ ...tried, unsuccessfulSince: NOW })).toEqual([])
  })

  test('times from elsewhere are read as in the runbook: attempt against success', () => {
    expect(signalsOf(tried)).toMatchObject([{ kind: 'unsuccessful', forMs: minutes(30) }])
    expect(signalsOf({ lastSuccessAt: NOW, lastAttemptAt: NOW - minutes(30) })).toEqual([])
    expect(signalsOf({})).toEqual([])
  })
})

const failing = (sessionId: string, lastErrorCode: string, changes = {}) => ({
  sessionId,
  workspaces: [entry({ state: 'failed', stateSince: NOW, lastErrorCode, ...changes })],
})

describe('many error codes at once', () => {
  const three = [failing('s1', 'c'), failing('s2', 'a'), failing('s3', 'b'), failing('s3', 'b')]

  test('are trouble of the provider', () => {
    expect(healthSignals(three, NOW)).toEqual([
      {
        kind: 'many-error-codes',
        providerId: 'fake',
        errorCodes: ['a', 'b', 'c'],
        sessionIds: ['s1', 's2', 's3'],
      },
    ])
    expect(healthSignals(three.slice(0, 2), NOW)).toEqual([])
    expect(healthSignals(three.slice(0, 2), NOW, { distinctErrorCodes: 2 })).toHaveLength(1)
  })

  test('are told apart by provider', () => {
    const other = failing('s4', 'd', { providerId: 'other' })
    expect(healthSignals([...three.slice(0, 2), other], NOW)).toEqual([])
  })

  test('of one session are its own trouble', () => {
    const session = three.map((each) => ({ ...each, sessionId: 's1' }))
    expect(healthSignals(session, NOW)).toEqual([])
  })

  test('an error from before a success is history', () => {
    const recovered = failing('s1', 'c', { state: 'open', lastSuccessAt: NOW, lastAttemptAt: NOW })
    expect(healthSignals([recovered, ...three.slice(1)], NOW)).toEqual([])
  })
})

describe('on a live registry', () => {
  test('a failed workspace is told once it has failed for long enough', async () => {
    const { registry, provider, clock } = setup()
    provider.open = () => Promise.reject(new WorkspaceFailedError('config-invalid', 'no'))
    // The state counts from when it was reached, not from the start of the session.
    await clock.advance(minutes(60))
    await codeOf(registry.acquire('box'))
    const look = () =>
      healthSignals([{ sessionId: 's1', workspaces: registry.describe() }], clock.now())
    expect(look()).toEqual([])
    await clock.advance(minutes(5) + 1)
    expect(look()).toEqual([
      { kind: 'failed', forMs: minutes(5) + 1, lastErrorCode: 'config-invalid', ...place },
    ])
  })

  test('one that fails again and again is told, although its state is never old', async () => {
    const { registry, provider, clock } = setup({ deps: { resetAfterMs: 1000 } })
    provider.open = () => Promise.reject(new WorkspaceFailedError('config-invalid', 'no'))
    for (let attempt = 0; attempt < 5; attempt++) {
      await codeOf(registry.acquire('box'))
      await clock.advance(minutes(1))
    }
    const signals = healthSignals(
      [{ sessionId: 's1', workspaces: registry.describe() }],
      clock.now(),
    )
    expect(signals).toMatchObject([{ kind: 'unsuccessful', forMs: minutes(4) }])
  })

  test('a success ends it', async () => {
    const { registry, clock, stateOf } = setup()
    await registry.acquire('box')
    const start = clock.now()
    await codeOf(registry.use('box', () => Promise.reject(new Error('no')), once))
    await clock.advance(minutes(1))
    await codeOf(registry.use('box', () => Promise.reject(new Error('no')), once))
    expect(stateOf().unsuccessfulSince).toBe(start)
    await registry.use('box', () => Promise.resolve(), once)
    expect(stateOf()).not.toHaveProperty('unsuccessfulSince')
  })
})
