import { describe, expect, test } from 'vitest'
import { once, ref, setup } from './harness.ts'

describe('what operators see', () => {
  test('is a frozen copy and does no I/O', async () => {
    const { registry, events, clock } = setup({ names: ['a', 'b'], refs: { b: ref('b9') } })
    const before = registry.describe()
    expect(Object.isFrozen(before) && before.every((each) => Object.isFrozen(each))).toBe(true)
    expect(before).toEqual([
      {
        name: 'a',
        providerId: 'fake',
        state: 'declared',
        stateSince: clock.now(),
        capabilities: { fs: true },
        evictions: 0,
        retries: 0,
      },
      expect.objectContaining({ name: 'b', state: 'declared', refSchemaVersion: 1 }),
    ])
    expect(events).toEqual([])
    await registry.acquire('a')
    expect(before[0]?.state).toBe('declared')
    expect(Object.isFrozen(registry.describe()[0]?.receipt)).toBe(true)
    expect(Object.isFrozen(registry.describe()[0]?.capabilities)).toBe(true)
  })

  test('tells times and the last error', async () => {
    const { registry, clock, stateOf } = setup()
    const start = clock.now()
    await registry.acquire('box')
    await clock.advance(10)
    await registry.use('box', async () => clock.advance(5), once)
    expect(stateOf()).toMatchObject({
      openedAt: start,
      lastAttemptAt: start + 10,
      lastOpAt: start + 15,
      lastSuccessAt: start + 15,
      receipt: { outcome: 'created' },
      refSchemaVersion: 1,
    })
    expect(stateOf()).not.toHaveProperty('lastError')
  })

  test('the state is also a metric', async () => {
    const { registry, metrics } = setup()
    await registry.acquire('box')
    await registry.close({ mode: 'detach' })
    expect(metrics.calls('setState').map(([, ...states]) => states)).toEqual([
      ['opening', 'declared'],
      ['open', 'opening'],
      ['closing', 'open'],
      ['closed', 'closing'],
    ])
  })
})

const rejection = (key: string) => ({
  message: 'workspace tool: command not in allowlist',
  code: 'command-not-allowed',
  key,
  fields: { command: key },
})

describe('audit', () => {
  test('warns once for each workspace and key, and counts every rejection', async () => {
    const { registry, logger, metrics } = setup({ names: ['a', 'b'] })
    for (let index = 0; index < 100; index++) registry.audit('a', rejection('curl'))
    registry.audit('a', rejection('wget'))
    registry.audit('b', rejection('curl'))
    expect(logger.with(rejection('').message)).toMatchObject([
      { level: 'warn', fields: { command: 'curl', workspace: 'a', sessionId: 's1' } },
      { fields: { command: 'wget', workspace: 'a' } },
      { fields: { command: 'curl', workspace: 'b' } },
    ])
    expect(metrics.count('incPolicyRejection')).toBe(102)
  })

  test('close writes what was suppressed', async () => {
    const { registry, logger } = setup()
    registry.audit('box', rejection('curl'))
    registry.audit('box', rejection('curl'))
    await registry.close({ mode: 'detach' })
    const rollup = logger.lines.filter((line) => line.message.includes('[rate-limited]'))
    expect(rollup).toHaveLength(1)
    expect(rollup[0]?.fields).toMatchObject({ suppressedCount: 1 })
  })
})

describe('ledgers', () => {
  const stored = {
    known: { tester: { '/a': { version: '1' } } },
    writers: { '/a': { actor: 'tester', version: '1' } },
  }

  test('survive an eviction and are taken when they changed', async () => {
    const { registry } = setup({
      refs: { box: ref('b9') },
      stored: ['b9'],
      deps: { ledgers: { box: stored } },
    })
    const { ledger } = await registry.acquire('box')
    expect(ledger.snapshot()).toEqual(stored)
    expect(registry.takeLedgerChanges()).toBeUndefined()
    ledger.recordWrite('tester', '/b', '7')
    expect(Object.keys(registry.takeLedgerChanges()?.box?.writers ?? {})).toEqual(['/a', '/b'])
    expect(registry.takeLedgerChanges()).toBeUndefined()
  })

  test('of a workspace that lost its files begin anew, and that is stored', async () => {
    const { registry } = setup({ refs: { box: ref('old') }, deps: { ledgers: { box: stored } } })
    const { ledger } = await registry.acquire('box')
    const empty = { known: {}, writers: {} }
    expect(ledger.snapshot()).toEqual(empty)
    expect(registry.takeLedgerChanges()).toEqual({ box: empty })
    expect(registry.takeLedgerChanges()).toBeUndefined()
  })
})
