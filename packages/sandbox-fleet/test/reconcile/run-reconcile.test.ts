import { FleetError } from '@helix-agents/core/runtime'
import { fleetMessages, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { recordOpened } from '../../src/report/ledger-writes.ts'
import { runReconcile } from '../../src/reconcile/run-reconcile.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { terminateSandbox } from '../../src/sweep/terminate-sandbox.ts'
import { finish, given, HOUR_MS, MINUTE_MS, setup, statusOf } from '../fleet-harness.ts'

const operator = { reason: 'operator', detail: 'by hand', by: 'somebody' } as const

describe('a reconciliation', () => {
  test('heals records, ends orphans, and leaves the rest', async () => {
    const fleet = setup()
    const { clock, context, driver, store } = fleet
    await given(fleet, 'fine')
    await given(fleet, 'lost')
    driver.alive.delete('lost')
    const createdAt = clock.now() - HOUR_MS
    driver.alive.set('orphan', { environment: 'test', createdAt, ownerAlive: false })
    const report = await finish(clock, runReconcile(context))
    expect(report.items).toMatchObject([
      { kind: 'heal-record', id: 'lost', outcome: 'healed' },
      { kind: 'end-orphan', id: 'orphan', outcome: 'destroyed' },
    ])
    expect(await statusOf(store, 'lost')).toBe('terminated')
    expect(await store.get('orphan')).toMatchObject({
      status: 'terminated',
      kill: { reason: 'orphan', by: 'reconcile' },
    })
    expect(await statusOf(store, 'fine')).toBe('running')
    expect(report).not.toHaveProperty('error')
    expect(fleet.logger.with(fleetMessages.cleanupStopped)).toEqual([])
    expect(fleet.logger.with(fleetMessages.reconcileCompleted)).toMatchObject([
      { level: 'info', fields: { outcome: 'completed', differences: 2, rejected: 0 } },
    ])
  })

  test('one that waits for its session is taken in and left, until its time is over', async () => {
    const { clock, context, driver, store } = setup()
    const day = 24 * HOUR_MS
    const listed = { environment: 'test', ownerAlive: false, isDetached: true }
    driver.alive.set('paused', { ...listed, createdAt: clock.now() - 2 * day })
    driver.alive.set('forgotten', { ...listed, createdAt: clock.now() - 8 * day })
    const { items } = await finish(clock, runReconcile(context))
    expect(items).toMatchObject([
      { id: 'paused', outcome: 'adopted' },
      { id: 'forgotten', outcome: 'destroyed' },
    ])
    expect((await store.get('paused'))?.lease?.kind).toBe('detached')
    await clock.advance(HOUR_MS)
    expect((await finish(clock, runCleanup(context, 'scheduled'))).items).toEqual([])
    await clock.advance(5 * day)
    const late = await finish(clock, runCleanup(context, 'scheduled'))
    expect(late.items).toMatchObject([{ id: 'paused', outcome: 'destroyed' }])
  })

  test('a record that cannot be read does not keep the others from being compared', async () => {
    const store = new MemoryFleetStore()
    const fleet = setup({ store })
    await given(fleet, 'damaged')
    await given(fleet, 'lost')
    fleet.driver.alive.delete('lost')
    const get = store.get.bind(store)
    const list = store.list.bind(store)
    store.get = async (id) => {
      if (id === 'damaged') throw new FleetError('corrupt', 'it cannot be read')
      return get(id)
    }
    store.list = async (query) => {
      const page = await list(query)
      const records = page.records.filter(({ id }) => id !== 'damaged')
      return { ...page, records, unreadable: 1 }
    }
    const report = await finish(fleet.clock, runReconcile(fleet.context))
    expect(report).toMatchObject({ outcome: 'completed', skipped: 1 })
    expect(report.items).toMatchObject([{ id: 'lost', outcome: 'healed' }])
    expect(fleet.driver.terminated).toEqual([])
  })

  test('as a dry run changes nothing, and the same is done afterwards', async () => {
    const fleet = setup()
    await given(fleet, 'lost')
    fleet.driver.alive.clear()
    const dry = await finish(fleet.clock, runReconcile(fleet.context, { dryRun: true }))
    expect(dry.items).toMatchObject([{ id: 'lost', outcome: 'planned' }])
    expect(fleet.driver.calls).toEqual(['list'])
    expect(await statusOf(fleet.store, 'lost')).toBe('running')
    const real = await finish(fleet.clock, runReconcile(fleet.context))
    expect(real.items).toMatchObject([{ id: 'lost', outcome: 'healed' }])
  })

  test('a list that lags is not believed: the sandbox itself is asked', async () => {
    const fleet = setup()
    await given(fleet, 'unlisted')
    fleet.driver.alive.clear()
    fleet.driver.onInspect = () => ({ state: 'running' })
    const report = await finish(fleet.clock, runReconcile(fleet.context))
    expect(report.items).toMatchObject([{ id: 'unlisted', outcome: 'present' }])
    expect(await statusOf(fleet.store, 'unlisted')).toBe('running')
  })

  test('a list that fails ends nothing', async () => {
    const fleet = setup()
    await given(fleet, 'a')
    fleet.driver.onList = () => {
      throw new Error('no list')
    }
    const report = await finish(fleet.clock, runReconcile(fleet.context))
    expect(report).toMatchObject({
      outcome: 'completed',
      items: [],
      rejected: [{ because: 'failed' }],
    })
  })

  test('what was destroyed and is still there is destroyed again, after a while', async () => {
    const fleet = setup()
    const { clock, context, driver, store } = fleet
    await given(fleet, 'undead')
    await finish(clock, terminateSandbox(context, 'undead', operator))
    driver.alive.set('undead', { environment: 'test' })
    const soon = await finish(clock, runReconcile(context))
    expect(soon.items).toMatchObject([{ kind: 'destroy-again', outcome: 'spared' }])
    await clock.advance(3 * MINUTE_MS)
    const later = await finish(clock, runReconcile(context))
    expect(later.items).toMatchObject([{ kind: 'destroy-again', outcome: 'destroyed' }])
    expect(await store.get('undead')).toMatchObject({
      status: 'terminated',
      kill: { reason: 'reappeared' },
    })
  })

  test('an orphan to which an owner attached after the listing keeps its files', async () => {
    const { clock, context, driver, store } = setup()
    driver.alive.set('work', { environment: 'test', createdAt: 0, ownerAlive: false })
    // Once the plan is made and before it is applied.
    const create = store.create.bind(store)
    store.create = async (record) => {
      driver.alive.set('work', { environment: 'test', createdAt: 0, ownerAlive: true })
      return create(record)
    }
    const { items } = await finish(clock, runReconcile(context))
    expect(items).toMatchObject([{ id: 'work', outcome: 'adopted' }])
    expect(driver.calls).toEqual(['list', 'inspect work'])
    expect(await statusOf(store, 'work')).toBe('running')
  })

  test('an orphan that was paused after the listing waits for its session', async () => {
    const { clock, context, driver, store } = setup()
    driver.alive.set('paused', { environment: 'test', createdAt: 0, ownerAlive: false })
    driver.onInspect = () => ({ state: 'running', ownerAlive: false, isDetached: true })
    const { items } = await finish(clock, runReconcile(context))
    expect(items).toMatchObject([{ id: 'paused', outcome: 'adopted' }])
    expect((await store.get('paused'))?.lease?.kind).toBe('detached')
    expect(driver.terminated).toEqual([])
  })

  test('an orphan of which nothing can be told is adopted', async () => {
    const { clock, context, driver, store } = setup()
    driver.alive.set('silent', { environment: 'test', createdAt: 0, ownerAlive: false })
    driver.onInspect = () => Promise.reject(new Error('no answer'))
    const { items } = await finish(clock, runReconcile(context))
    expect(items).toMatchObject([{ id: 'silent', outcome: 'unknown' }])
    expect(await statusOf(store, 'silent')).toBe('running')
    expect(driver.terminated).toEqual([])
  })

  test('an orphan that went away after the listing is recorded as gone', async () => {
    const { clock, context, driver, store } = setup()
    driver.alive.set('brief', { environment: 'test', createdAt: 0, ownerAlive: false })
    driver.onInspect = () => ({ state: 'absent' })
    const { items } = await finish(clock, runReconcile(context))
    expect(items).toMatchObject([{ id: 'brief', outcome: 'healed' }])
    expect(await statusOf(store, 'brief')).toBe('terminated')
  })

  test('where owners cannot be seen, an orphan is adopted, and ended when it stays unused', async () => {
    const { clock, context, driver } = setup()
    driver.alive.set('leak', { environment: 'test', createdAt: 0 })
    const { items } = await finish(clock, runReconcile(context))
    expect(items).toMatchObject([{ id: 'leak', outcome: 'adopted' }])
    await clock.advance(11 * MINUTE_MS)
    const cleanup = await finish(clock, runCleanup(context, 'scheduled'))
    expect(cleanup.items).toMatchObject([{ id: 'leak', reason: 'idle', outcome: 'destroyed' }])
  })

  test('an adoption of which the ledger loses the answer leaves a sandbox that is running', async () => {
    const { clock, context, driver, store } = setup()
    driver.alive.set('held', { environment: 'test', createdAt: 0 })
    const create = store.create.bind(store)
    store.create = async (record) => {
      await create(record)
      throw new FleetError('unavailable', 'the answer is lost')
    }
    const { outcome } = await finish(clock, runReconcile(context))
    expect(outcome).toBe('store-failed')
    expect(await store.get('held')).toMatchObject({
      status: 'running',
      lastActivityAt: clock.now(),
      statusSince: clock.now(),
    })
    // An owner that attaches without the ledger has as long as after any adoption.
    await clock.advance(MINUTE_MS)
    await finish(clock, runCleanup(context, 'scheduled'))
    expect(driver.terminated).toEqual([])
  })

  test('one that was adopted before its owner reported it learns whose it is', async () => {
    const { clock, context, driver, store } = setup()
    driver.alive.set('early', { environment: 'test', createdAt: 0, ownerAlive: true })
    await finish(clock, runReconcile(context))
    const sandbox = { id: 'early', provider: 'fake', agentType: 'greeter', critical: true }
    await recordOpened(context, sandbox, 'run')
    const record = await store.get('early')
    expect(record).toMatchObject({ agentType: 'greeter', critical: true, status: 'running' })
    expect(record).not.toHaveProperty('holdDeadlineAt')
  })

  test('an orphan that is in use is made known, and left to its owner', async () => {
    const fleet = setup()
    fleet.driver.alive.set('used', { environment: 'test', createdAt: 0, ownerAlive: true })
    const report = await finish(fleet.clock, runReconcile(fleet.context))
    expect(report.items).toMatchObject([{ outcome: 'adopted' }])
    await fleet.clock.advance(HOUR_MS)
    await finish(fleet.clock, runCleanup(fleet.context, 'scheduled'))
    expect(fleet.driver.terminated).toEqual([])
  })

  test('a provider that cannot list is asked about what the ledger knows, and nothing else', async () => {
    const { clock, context, driver, store, ...rest } = setup()
    const fleet = { clock, context, driver, store, ...rest }
    Object.defineProperty(driver, 'list', { value: undefined })
    const blind = setup({ store, clock, driver })
    await given(fleet, 'gone')
    await given(fleet, 'there')
    driver.alive.delete('gone')
    driver.alive.set('unheard-of', { environment: 'test', createdAt: 0 })
    const report = await finish(clock, runReconcile(blind.context))
    expect(report.items.map(({ id, outcome }) => `${id} ${outcome}`).toSorted()).toEqual([
      'gone healed',
      'there present',
    ])
    expect(driver.calls.toSorted()).toEqual(['inspect gone', 'inspect there'])
  })

  test('a stopped one that somebody holds is kept', async () => {
    const fleet = setup()
    const lease = { kind: 'detached', holder: 's', until: fleet.clock.now() + HOUR_MS } as const
    await given(fleet, 'asleep', { lease })
    fleet.driver.alive.clear()
    fleet.driver.onInspect = () => ({ state: 'stopped' })
    const report = await finish(fleet.clock, runReconcile(fleet.context))
    expect(report.items).toMatchObject([{ id: 'asleep', outcome: 'present' }])
  })
})
