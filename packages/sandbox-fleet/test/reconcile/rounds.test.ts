// Comparisons of more records than one pass may look at: none is left out, whatever happens between.
import { Fleet } from '@helix-agents/sandbox-fleet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cursorsAfter, type ReconcilePage } from '../../src/reconcile/reconcile-cursors.ts'
import type { ReconcileAction } from '../../src/reconcile/reconcile-report.ts'
import { planReconcile } from '../../src/reconcile/plan-reconcile.ts'
import { runReconcile } from '../../src/reconcile/run-reconcile.ts'
import { FakeDriver, finish, given, HOUR_MS, MINUTE_MS, setup } from '../fleet-harness.ts'

const at = (n: number) => `sb-${String(n).padStart(4, '0')}`

function healOf(n: number): ReconcileAction {
  return { kind: 'heal-record', id: String(n), provider: 'fake' }
}

describe('a ledger of more than one pass can look at', () => {
  const COUNT = 250

  /** Two passes and a half; with `scale` 10 by the numbers of the policy itself. */
  async function many({ driver = new FakeDriver(), scale = 1 } = {}) {
    const policy = { passTimeoutMs: HOUR_MS, maxExaminedPerPass: 100 * scale }
    const fleet = setup({ driver, policy })
    const count = COUNT * scale
    for (let n = 0; n < count; n += 1) await given(fleet, at(n))
    // The oldest, the newest, and one between.
    for (const n of [0, 120 * scale, count - 1]) fleet.driver.alive.delete(at(n))
    return fleet
  }

  test('goes on where it stopped, and then begins anew', async () => {
    const { clock, context, driver } = await many({ scale: 10 })
    const rounds: string[][] = []
    for (let round = 0; round < 3; round += 1) {
      const { items, outcome } = await finish(clock, runReconcile(context))
      rounds.push([outcome, ...items.map(({ id, outcome: done }) => `${id} ${done}`)])
    }
    expect(rounds).toEqual([
      ['more', 'sb-2499 healed'],
      ['more', 'sb-1200 healed'],
      ['completed', 'sb-0000 healed'],
    ])
    driver.alive.delete(at(2400))
    const { items } = await finish(clock, runReconcile(context))
    expect(items).toMatchObject([{ id: 'sb-2400', outcome: 'healed' }])
  })

  test('a provider that cannot list is asked about each of them in turn', async () => {
    const driver = new FakeDriver()
    Object.defineProperty(driver, 'list', { value: undefined })
    const { clock, context } = await many({ driver })
    for (let round = 0; round < 3; round += 1) await finish(clock, runReconcile(context))
    const asked = new Set(driver.calls.filter((call) => call.startsWith('inspect ')))
    expect(asked.size).toBe(COUNT)
    expect(driver.calls.length).toBe(COUNT)
  })

  test('records that cannot be read count as looked at', async () => {
    const { context, store } = await many()
    const list = store.list.bind(store)
    let pages = 0
    store.list = async (query) => {
      pages += 1
      const { records, ...page } = await list(query)
      return { ...page, records: records.slice(20), unreadable: 20 }
    }
    await planReconcile(context, { cursors: {}, keepLease: async () => {} })
    expect(pages).toBe(2)
  })

  test('the next tick goes on, and only a whole round waits for its hour', async () => {
    const { clock, context, driver, store } = await many()
    const { policy } = context
    const fleet = new Fleet({ store, drivers: [driver], environment: 'test', clock, policy })
    const seen: (string | undefined)[] = []
    for (let round = 0; round < 5; round += 1) {
      const { reconcile } = await finish(clock, fleet.tick())
      seen.push(reconcile?.outcome)
      await clock.advance(MINUTE_MS)
    }
    expect(seen).toEqual(['more', 'more', 'completed', undefined, undefined])
  })

  test('a list that fails does not lose the place, and a strange cursor begins anew', async () => {
    const { clock, context, driver, store } = await many()
    await finish(clock, runReconcile(context))
    driver.isComplete = false
    await finish(clock, runReconcile(context))
    driver.isComplete = true
    const second = await finish(clock, runReconcile(context))
    expect(second.items).toMatchObject([{ id: 'sb-0120' }])
    await store.writeState('reconcile-cursors:test', { fake: 'of another release' })
    driver.alive.delete(at(240))
    const anew = await finish(clock, runReconcile(context))
    expect(anew).toMatchObject({ outcome: 'more', items: [{ id: 'sb-0240' }] })
  })

  test('a dry run tells what the next pass does, and moves nothing', async () => {
    const { clock, context, store } = await many()
    const dry = await finish(clock, runReconcile(context, { dryRun: true }))
    expect(dry).toMatchObject({ outcome: 'more', items: [{ id: 'sb-0249' }] })
    expect(await store.readState('reconcile-cursors:test')).toBeUndefined()
    await finish(clock, runReconcile(context))
    const next = await finish(clock, runReconcile(context, { dryRun: true }))
    expect(next.items).toMatchObject([{ id: 'sb-0120' }])
  })

  test('a pass that ends before its place is kept is done again', async () => {
    const { clock, context, driver, store } = await many()
    const write = store.writeState.bind(store)
    store.writeState = (key, value) =>
      key.startsWith('reconcile') ? Promise.reject(new Error('crashed')) : write(key, value)
    expect(await finish(clock, runReconcile(context))).toMatchObject({ outcome: 'store-failed' })
    driver.alive.delete(at(240))
    store.writeState = write
    const again = await finish(clock, runReconcile(context))
    expect(again).toMatchObject({ outcome: 'more', items: [{ id: 'sb-0240' }] })
  })
})

describe('a pass whose time is over', () => {
  test('goes on with what it did not look at', async () => {
    const COUNT = 300
    const driver = new FakeDriver()
    Object.defineProperty(driver, 'list', { value: undefined })
    const fleet = setup({ driver, policy: { passTimeoutMs: 4 * MINUTE_MS } })
    const { clock, context } = fleet
    for (let n = 0; n < COUNT; n += 1) await given(fleet, `sb-${n}`)
    // Each look takes so long that no pass gets through.
    const inspect = driver.inspect.bind(driver)
    driver.inspect = async (target) => {
      await clock.sleep(9000)
      return inspect(target)
    }
    const outcomes: string[] = []
    while (outcomes.at(-1) !== 'completed' && outcomes.length < 10) {
      outcomes.push((await finish(clock, runReconcile(context))).outcome)
    }
    expect(outcomes.length).toBeGreaterThan(2)
    expect(outcomes.at(-1)).toBe('completed')
    const asked = new Set(driver.calls.filter((call) => call.startsWith('inspect ')))
    expect(asked.size).toBe(COUNT)
  })

  test('nothing is left out, wherever each pass stops', () => {
    const COUNT = 12
    const actions = Array.from({ length: COUNT }, (_, n) => healOf(n))
    const pageAt = (n: number): ReconcilePage => ({
      provider: 'fake',
      actions: actions.slice(n * 3, n * 3 + 3),
      ...(n > 0 && { from: String(n) }),
      ...(n < 3 && { next: String(n + 1) }),
    })
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 3, max: COUNT })), (sizes) => {
        const seen = new Set<ReconcileAction>()
        // At the latest, the last four passes each get one page further.
        const passes = [...sizes, 3, 3, 3, 3]
        let start: number | undefined = 0
        for (const size of passes) {
          const pages: readonly ReconcilePage[] = [0, 1, 2, 3].slice(start).map(pageAt)
          const done = new Set(pages.flatMap((page) => page.actions).slice(0, size))
          for (const one of done) seen.add(one)
          const { fake: cursor } = cursorsAfter(pages, (one) => done.has(one))
          start = cursor === undefined ? undefined : Number(cursor)
          if (start === undefined) break
        }
        expect([start, seen.size]).toEqual([undefined, COUNT])
      }),
    )
  })

  test('each provider has a place of its own', () => {
    const pages: ReconcilePage[] = [
      { provider: 'a', actions: [], next: 'a1' },
      { provider: 'a', actions: [], from: 'a1', next: 'a2' },
      { provider: 'b', actions: [] },
      { provider: 'rejected', actions: [], from: 'r1', next: 'r1' },
    ]
    expect(cursorsAfter(pages, () => true)).toEqual({ a: 'a2', rejected: 'r1' })
  })
})
