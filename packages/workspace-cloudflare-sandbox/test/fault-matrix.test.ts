// Every fault of the test bed at every operation, in workerd through the real SDK: the documented
// class and code, an end in time, and no effect that is lost, halved or doubled.
import { TestSampler } from '@helix-agents/core/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cellOf, effectsOf, ends } from './fault-matrix/cells.ts'
import { type FaultCase, type FaultName, faults } from './fault-matrix/faults.ts'
import { meetAll } from './fault-matrix/meet.ts'
import { meetEnds } from './fault-matrix/meet-ends.ts'
import { type Operation, operations } from './fault-matrix/operations.ts'
import { availability, Bench, codeOf, RemoteWorkspace, skipNote } from './testbed/bench.ts'

const sampler = new TestSampler()
/** Operations of a sample, for each fault. */
const SAMPLED_OPERATIONS = 6
/** Faults of a sample that ends meet. */
const SAMPLED_ENDS = 2
/** The longest that any call may take here, where long deadlines pass a hundred times as fast. */
const DEADLINE_MS = 100_000
/** Of a slow machine that is busy with all faults at once. */
const TIMEOUT_MS = 600_000
const EVICTED = 'evicted'

const faultNames = Object.keys(faults) as FaultName[]
const wordOf = (name: FaultName): string => name.replaceAll(/\W/g, '-')

/** Each operation meets one of the faults, at least. */
function chosenFor(name: FaultName): readonly Operation[] {
  if (sampler.isExhaustive) return operations
  const turn = faultNames.indexOf(name)
  const own = operations.filter((_, index) => index % faultNames.length === turn)
  const more = operations.filter((one) => !own.includes(one))
  const picked = sampler.pick(name, more, SAMPLED_OPERATIONS - own.length)
  return operations.filter((one) => own.includes(one) || picked.includes(one))
}

/** @returns how many operations have met the fault. */
async function checkAll(bench: Bench, name: FaultName): Promise<number> {
  const chosen = chosenFor(name)
  const met = await meetAll(bench, wordOf(name), faults[name], chosen)
  expect([...met.keys()].toSorted()).toEqual(chosen.map((one) => one.name).toSorted())
  for (const operation of chosen) {
    const { end = '', effect, tookMs = Infinity } = met.get(operation.name) ?? {}
    const allowed = cellOf(name, operation).map((one): string => ends[one])
    expect([operation.name, allowed.includes(end) ? '' : end]).toEqual([operation.name, ''])
    expect([operation.name, tookMs < DEADLINE_MS]).toEqual([operation.name, true])
    if (effect === undefined) continue
    const isAllowed = effectsOf(name, end).includes(effect)
    expect([operation.name, end, isAllowed ? '' : effect]).toEqual([operation.name, end, ''])
  }
  return met.size
}

const cases = Object.entries<FaultCase>(faults) as [FaultName, FaultCase][]

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 180_000)
  afterAll(() => bench?.testbed.stop(), 180_000)

  describe('every operation', () => {
    // The other one leaves a platform of which nothing can be asked any more.
    const passing = cases.filter(([, { isLast }]) => isLast !== true)
    const together = passing.filter(([, { isAlone }]) => isAlone !== true)
    test.concurrent.each(together)(
      '%s',
      async (name) => {
        expect(await checkAll(bench, name)).toBeGreaterThan(0)
      },
      TIMEOUT_MS,
    )

    const alone = passing.filter(([, { isAlone }]) => isAlone === true)
    test.each(alone)(
      '%s',
      async (name) => {
        expect(await checkAll(bench, name)).toBeGreaterThan(0)
      },
      TIMEOUT_MS,
    )
  })

  describe('every end', () => {
    const passing = cases.filter(([, { isLast }]) => isLast !== true)
    const met = sampler.pick('faults at an end', passing, SAMPLED_ENDS)
    const [alone, together] = [true, false].map((isAlone) =>
      met.filter(([, one]) => (one.isAlone === true) === isAlone),
    )
    test.concurrent.each(together ?? [])(
      '%s',
      async (name, fault) => {
        expect(await meetEnds(bench, wordOf(name), fault)).toEqual([])
      },
      TIMEOUT_MS,
    )
    test.each(alone ?? [])(
      '%s',
      async (name, fault) => {
        expect(await meetEnds(bench, wordOf(name), fault)).toEqual([])
      },
      TIMEOUT_MS,
    )
  })

  test.concurrent(
    'code runs in no container but its own, whoever has started the next one',
    async () => {
      const ws = await bench.open('code')
      const other = new RemoteWorkspace(bench, 'code', { key: 'other' })
      await bench.testbed.sleepNow(ws.id)
      await other.open()
      const code = 'open("/workspace/made", "w").write("x")'
      expect(await codeOf(ws.call('code.runCode', 'python', code))).toBe(EVICTED)
      await ws.open()
      expect(await ws.output('ls -A')).toBe('')
    },
    TIMEOUT_MS,
  )

  test(
    'a container that ends by itself in the middle ends the call',
    async () => {
      // A multiple of what a start takes on a busy machine, so that the calls are under way by then.
      const startedAt = performance.now()
      await bench.open('a start before')
      const afterMs = 2000 + 5 * (performance.now() - startedAt)
      const exits = { kind: 'exits', afterMs, exitCode: 3, times: 1 } as const
      bench.testbed.faults.inject(exits)
      const ws = await bench.open('exits')
      const calls = [
        ws.call('shell.run', 'sleep 60'),
        ws.call('code.runCode', 'python', 'import time; time.sleep(60)'),
      ]
      expect(await Promise.all(calls.map(codeOf))).toEqual([EVICTED, EVICTED])
      expect(await codeOf(ws.resolve())).toBe('lost')
      const { receipt } = await ws.open()
      expect(receipt).toMatchObject({
        outcome: 'cold',
        detail: expect.stringContaining('last seen at'),
      })
      expect(await ws.output('echo on')).toBe('on')
    },
    TIMEOUT_MS,
  )

  test.concurrent(
    'an end that is refused is never told as done',
    async () => {
      const ws = await bench.open('refused', {
        config: { destroyOnClose: true },
        options: { pace: 10 },
      })
      const fault = bench.testbed.faults.inject({
        kind: 'rejected-destroy',
        step: 'both',
        sandbox: ws.id,
      })
      await expect(ws.call('close')).rejects.toMatchObject({ code: 'provider-failed' })
      expect(await bench.testbed.sandbox(ws.id)).toBeDefined()
      fault.remove()
      await ws.call('close')
      expect(await bench.testbed.sandbox(ws.id)).toBeUndefined()
    },
    TIMEOUT_MS,
  )

  test.concurrent(
    'a stored snapshot comes back exactly into a cold container',
    async () => {
      const config = { backupR2Binding: 'BACKUP_BUCKET', autoRestore: true } as const
      const ws = await bench.open('restored', { config })
      await ws.call('shell.run', 'echo kept > kept; mkdir -p .hidden/d; ln -s kept link')
      await ws.call('snapshot.snapshot')
      await ws.call('shell.run', 'echo later > later; rm kept')
      const ref = await ws.call('changedRef')
      await bench.testbed.sleepNow(ws.id)
      expect((await ws.resolve(ref)).receipt.outcome).toBe('restored')
      expect(await ws.output('ls -A; cat link')).toBe('.hidden\nkept\nlink\nkept')
    },
    TIMEOUT_MS,
  )

  const [last] = cases.filter(([, { isLast }]) => isLast === true)
  test(
    `every operation at last: ${last?.[0]}`,
    async () => {
      expect(last && (await checkAll(bench, last[0]))).toBeGreaterThan(0)
    },
    TIMEOUT_MS,
  )
})

/** Before 2026-04-21 errors cross from object to object by their texts only. */
const OLD_DATE = '2026-04-20'

describe.skipIf(!availability.available)(`in workerd of an old date${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start('local', OLD_DATE)), 180_000)
  afterAll(() => bench?.testbed.stop(), 180_000)

  const oneByOne = cases.filter(([, { meets }]) => meets === 'each')
  const told = sampler.pick('faults of an old date', oneByOne, 1)
  test.concurrent.each(told)(
    'every operation: %s',
    async (name) => {
      expect(await checkAll(bench, name)).toBeGreaterThan(0)
    },
    TIMEOUT_MS,
  )

  test(
    'a container that slept acts on nothing, and files keep their codes',
    async () => {
      const ws = await bench.open('slept')
      expect(await codeOf(ws.call('fs.readFile', '/none'))).toBe('not-found')
      expect(await codeOf(ws.call('code.runInContext', 'none', '1'))).toBe('invalid-input')
      await bench.testbed.sleepNow(ws.id)
      expect(await codeOf(ws.call('shell.run', 'true'))).toBe(EVICTED)
      expect(await codeOf(ws.resolve())).toBe('lost')
    },
    TIMEOUT_MS,
  )
})
