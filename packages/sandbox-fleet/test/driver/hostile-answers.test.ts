// A driver may answer anything: one bad answer harms neither the pass nor the other sandboxes.
import type { FleetDriver, SandboxProbe } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { runReconcile } from '../../src/reconcile/run-reconcile.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { finish, given, MINUTE_MS, setup, statusOf } from '../fleet-harness.ts'
import { setup as setupApp } from '../http/harness.ts'

const nonsense: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['null', null],
  ['a text', 'absent'],
  ['a list', ['absent']],
  ['no state', {}],
  ['a state that is none', { state: 'gone' }],
  ['a name of the prototype', { state: 'constructor' }],
  ['an owner that is no boolean', { state: 'running', ownerAlive: 'no' }],
]

/** An error that cannot be described. */
const UNSPEAKABLE: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['an object without a prototype', Object.create(null)],
  ['a symbol', Symbol('no')],
  [
    'an error whose message throws',
    Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('no message')
      },
    }),
  ],
  ['an error whose cause has no text', new Error('x', { cause: Object.create(null) })],
]

describe('inspect', () => {
  test.each(nonsense)('that answers with %s tells nothing', async (_, answer) => {
    const fleet = setup()
    await given(fleet, 'odd')
    await given(fleet, 'usual')
    fleet.driver.onInspect = ({ id }) =>
      id === 'odd' ? (answer as SandboxProbe) : { state: 'running' }
    const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    const outcomes = Object.fromEntries(report.items.map(({ id, outcome }) => [id, outcome]))
    expect([report.outcome, outcomes.odd]).toEqual(['completed', 'unknown'])
    expect(fleet.driver.terminated).toEqual(['usual'])
  })

  test.each(UNSPEAKABLE)('that throws %s tells nothing', async (_, thrown) => {
    const fleet = setup()
    await given(fleet, 'odd')
    fleet.driver.onInspect = () => {
      throw thrown
    }
    const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(report.items.map(({ outcome }) => outcome)).toEqual(['unknown'])
  })

  test('has a detail that is long and has secrets: the ledger keeps some of it', async () => {
    const fleet = setup()
    await given(fleet, 'odd')
    const detail = `token=ghp_abcdefghijklmnopqrstuvwxyz0123456789 ${'x'.repeat(1_000_000)}`
    fleet.driver.onInspect = () => ({ state: 'running', detail })
    fleet.driver.onTerminate = () => undefined
    await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    const { lastError } = (await fleet.store.get('odd')) ?? {}
    expect(lastError?.message).not.toContain('ghp_')
    expect(lastError?.message.length).toBeLessThan(2001)
  })
})

describe('terminate', () => {
  test.each(UNSPEAKABLE)('that throws %s stays owed', async (_, thrown) => {
    const fleet = setup()
    await given(fleet, 'odd')
    fleet.driver.onTerminate = () => {
      throw thrown
    }
    const report = await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(report.items.map(({ outcome }) => outcome)).toEqual(['owed'])
    expect((await fleet.store.get('odd'))?.owed?.attempts).toBe(1)
  })
})

describe('list', () => {
  test.each([
    ['a time before all times', { createdAt: -1 }],
    ['a time that is no number', { createdAt: Number.NaN }],
    ['a time without end', { createdAt: Number.POSITIVE_INFINITY }],
    ['a time that is a text', { createdAt: '2026' }],
    ['a time that is far ahead', { createdAt: 8.64e15 }],
    ['one that waits since a time that is far ahead', { createdAt: 8.64e15, isDetached: true }],
    ['an owner that is no boolean', { ownerAlive: 'false' }],
    ['null for everything', { createdAt: null, ownerAlive: null, isDetached: null }],
  ])('with %s: it is adopted, and the others are compared', async (_, fields) => {
    const fleet = setup()
    const old = { environment: 'test', createdAt: fleet.clock.now() - 60 * MINUTE_MS }
    fleet.driver.alive.set('odd', { environment: 'test', ...fields } as never)
    fleet.driver.alive.set('orphan', { ...old, ownerAlive: false })
    const report = await finish(fleet.clock, runReconcile(fleet.context))
    const outcomes = Object.fromEntries(report.items.map(({ id, outcome }) => [id, outcome]))
    expect([report.outcome, outcomes]).toEqual([
      'completed',
      { odd: 'adopted', orphan: 'destroyed' },
    ])
    const now = fleet.clock.now()
    const { lease } = (await fleet.store.get('odd')) ?? {}
    expect(lease?.until ?? 0).toBeLessThanOrEqual(now + fleet.context.policy.detachedRetentionMs)
  })

  test.each([
    ['entries that are none', { isComplete: true, sandboxes: [null, 7, 'a', {}, { id: 7 }] }],
    ['a label that is no text', { isComplete: true, sandboxes: [{ id: 'a', environment: 7 }] }],
  ])('with %s: they are skipped', async (_, listing) => {
    const fleet = setup()
    fleet.driver.list = async () => listing as never
    const report = await finish(fleet.clock, runReconcile(fleet.context))
    expect([report.outcome, report.items, report.rejected]).toEqual(['completed', [], []])
  })

  test.each([
    undefined,
    null,
    [],
    { sandboxes: [] },
    { isComplete: 'true', sandboxes: [] },
    { isComplete: true },
    { isComplete: true, sandboxes: 'none' },
  ])('that is %j concludes nothing', async (listing) => {
    const fleet = setup()
    await given(fleet, 'here')
    fleet.driver.list = async () => listing as never
    const report = await finish(fleet.clock, runReconcile(fleet.context))
    expect([report.items, report.rejected.length]).toEqual([[], 1])
    expect(await statusOf(fleet.store, 'here')).toBe('running')
  })
})

describe('logs', () => {
  const odd: readonly (readonly [string, unknown])[] = [
    ['nothing', undefined],
    ['bytes', new Uint8Array([0xff, 0xfe])],
    ['an object', { toString: () => 'x' }],
  ]
  test.each(odd)('that are %s are a failure of the driver', async (_, answer) => {
    const { addLeaked, ask, driver } = setupApp()
    await addLeaked('sb-1')
    driver.logs = (async () => answer) as NonNullable<FleetDriver['logs']> & (() => Promise<string>)
    expect((await ask('/api/sandbox/sb-1/logs')).status).toBe(502)
  })

  test('that are one endless line are cut', async () => {
    const { addLeaked, ask, driver } = setupApp()
    await addLeaked('sb-1')
    driver.logs = async () => `first\n${'x'.repeat(8 * 1024 * 1024)}last`
    const text = await (await ask('/api/sandbox/sb-1/logs')).text()
    expect(text.length).toBeLessThan(2 * 1024 * 1024)
    const { is_cut: isCut, lines } = JSON.parse(text) as { is_cut: boolean; lines: string[] }
    expect([isCut, lines.at(-1)?.endsWith('last')]).toEqual([true, true])
  })
})
