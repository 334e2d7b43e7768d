// Every fault of the test bed at every operation, in workerd through the real SDK: the documented
// class and code, an end in time, and no effect that is lost or doubled.
import type { Fault } from '@helix-agents/sandbox-testbed'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  availability,
  Bench,
  codeOf,
  RemoteError,
  type RemoteWorkspace,
  skipNote,
} from './testbed/bench.ts'

/** The longest that any call may take: its own time, and what the driver needs to be sure. */
const DEADLINE_MS = 25_000
const CALL_TIMEOUT_MS = 12_000

interface Operation {
  readonly name: string
  readonly given: readonly unknown[]
  /** Running it twice leaves a trace that running it once does not. */
  readonly count?: (ws: RemoteWorkspace) => Promise<string>
}

const lines = (path: string) => (ws: RemoteWorkspace) =>
  ws.output(`wc -l < ${path} 2>/dev/null || echo 0`)

const operations: readonly Operation[] = [
  { name: 'fs.readFile', given: ['/kept'] },
  { name: 'fs.writeFile', given: ['/w', 'x\n'], count: lines('w') },
  { name: 'fs.appendFile', given: ['/log', 'x\n'], count: lines('log') },
  { name: 'fs.ls', given: ['/'] },
  { name: 'fs.glob', given: ['**'] },
  { name: 'fs.grep', given: ['kept'] },
  { name: 'fs.stat', given: ['/kept'] },
  { name: 'fs.mkdir', given: ['/d'] },
  { name: 'fs.rm', given: ['/victim'] },
  { name: 'fs.copy', given: ['/kept', '/copy'] },
  { name: 'fs.move', given: ['/movable', '/moved'] },
  { name: 'shell.run', given: ['echo x >> ran', { timeoutMs: 5000 }], count: lines('ran') },
  { name: 'shell.start', given: ['echo x >> started'], count: lines('started') },
  { name: 'shell.list', given: [] },
  {
    name: 'code.runCode',
    given: ['python', 'open("coded", "a").write("x\\n")'],
    count: lines('coded'),
  },
]

/** What a fault may end in; `ok` is no error at all. */
interface Expectation {
  readonly fault: Fault
  readonly ends: readonly string[]
  /** The operation may have run once although it failed. */
  readonly mayHaveRun: boolean
}

const EVICTED = 'WorkspaceEvictedError evicted'
const TRANSIENT = 'WorkspaceFailedError provider-failed'

const faults: Readonly<Record<string, Expectation>> = {
  'a connection that is cut before the operation': {
    fault: { kind: 'interrupted', when: 'before-admission', times: 1 },
    ends: ['ok', EVICTED],
    mayHaveRun: false,
  },
  'a connection that is cut after it began': {
    fault: { kind: 'interrupted', when: 'after-admission', times: 1 },
    ends: ['ok', EVICTED],
    mayHaveRun: true,
  },
  'an answer that is lost': {
    fault: { kind: 'lost-reply', times: 1 },
    ends: ['ok', EVICTED],
    mayHaveRun: true,
  },
  'a slow network': {
    fault: { kind: 'slow-network', delayMs: 60 },
    ends: ['ok'],
    mayHaveRun: true,
  },
}

async function attempt(ws: RemoteWorkspace, { name, given }: Operation): Promise<string> {
  try {
    await ws.call(name, ...given)
    return 'ok'
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error
    const { told } = error
    if (!['ok', EVICTED, TRANSIENT].includes(`${told.name} ${told.code}`)) throw error
    return `${told.name} ${told.code}`
  }
}

async function openPrepared(bench: Bench, name: string, pace = 1): Promise<RemoteWorkspace> {
  const ws = await bench.open(name, { options: { callTimeoutMs: CALL_TIMEOUT_MS, pace } })
  await ws.call('shell.run', 'echo kept > kept; echo x > victim; echo x > movable')
  return ws
}

/** Once is enough, and never twice; a failed one that certainly did not run left nothing. */
async function checkEffect(
  ws: RemoteWorkspace,
  { count, name }: Operation,
  { end, mayHaveRun }: { readonly end: string; readonly mayHaveRun: boolean },
): Promise<void> {
  if (count === undefined) return
  const allowed = end === 'ok' ? ['1'] : mayHaveRun ? ['0', '1'] : ['0']
  // A background process and a cut-off command may need a moment.
  if (name === 'shell.start') await ws.output('sleep 0.3')
  expect([name, allowed.includes(await count(ws))]).toEqual([name, true])
}

/** The fault at every operation, one after the other in one sandbox. */
async function meetEverywhere(
  bench: Bench,
  name: string,
  { fault, ends, mayHaveRun }: Expectation,
): Promise<number> {
  const ws = await openPrepared(bench, name.replaceAll(' ', '-'))
  for (const operation of operations) {
    const injected = bench.testbed.faults.inject({ ...fault, sandbox: ws.id })
    const startedAt = performance.now()
    const end = await attempt(ws, operation)
    const tookMs = performance.now() - startedAt
    injected.remove()
    expect([operation.name, ends.includes(end), end]).toEqual([operation.name, true, end])
    expect([operation.name, tookMs < DEADLINE_MS]).toEqual([operation.name, true])
    if (end !== 'ok') await ws.resolve()
    await checkEffect(ws, operation, { end, mayHaveRun })
  }
  return operations.length
}

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 60_000)
  afterAll(() => bench?.testbed.stop(), 60_000)

  describe.each(Object.entries(faults))('%s', (name, { fault, ends, mayHaveRun }) => {
    test('at every operation', async () => {
      const met = await meetEverywhere(bench, name, { fault, ends, mayHaveRun })
      expect(met).toBe(operations.length)
    }, 120_000)
  })

  test('a network that stands still: every call ends, by its own time or the watch', async () => {
    const ends = operations.map(async (operation, index) => {
      const ws = await openPrepared(bench, `frozen-${index}`, 6)
      const fault = bench.testbed.faults.inject({ kind: 'frozen-network', sandbox: ws.id })
      const startedAt = performance.now()
      const end = await attempt(ws, operation)
      const isInTime = performance.now() - startedAt < DEADLINE_MS
      fault.remove()
      return [operation.name, end, isInTime]
    })
    const expected = operations.map(({ name }) => [name, EVICTED, true])
    expect(await Promise.all(ends)).toEqual(expected)
  }, 120_000)

  test('a container that slept acts on nothing, whatever is asked', async () => {
    const ws = await openPrepared(bench, 'slept')
    for (const operation of operations) {
      await bench.testbed.sleepNow(ws.id)
      expect([operation.name, await attempt(ws, operation)]).toEqual([operation.name, EVICTED])
      expect(await codeOfResolve(ws)).toBe('lost')
      expect((await ws.open()).receipt).toMatchObject({
        outcome: 'cold',
        detail: expect.stringContaining('last seen at'),
      })
      expect(await ws.call('fs.ls', '/')).toEqual([])
    }
  }, 120_000)

  test('a container that is killed in the middle of a command ends the call', async () => {
    const ws = await openPrepared(bench, 'killed')
    const startedAt = performance.now()
    const run = attempt(ws, { name: 'shell.run', given: ['sleep 60'] })
    await ws.output('true')
    await bench.testbed.crash(ws.id)
    expect(await run).toBe(EVICTED)
    expect(performance.now() - startedAt).toBeLessThan(DEADLINE_MS)
  }, 60_000)

  test('a container that ends by itself in the middle ends the call', async () => {
    const exits = { kind: 'exits', afterMs: 2500, exitCode: 3, times: 1 } as const
    const fault = bench.testbed.faults.inject(exits)
    const ws = await openPrepared(bench, 'exits')
    fault.remove()
    const command = { name: 'shell.run', given: ['sleep 60'] }
    const code = { name: 'code.runCode', given: ['python', 'import time; time.sleep(60)'] }
    const ends = [command, code].map((operation) => attempt(ws, operation))
    expect(await Promise.all(ends)).toEqual([EVICTED, EVICTED])
    expect(await codeOfResolve(ws)).toBe('lost')
    expect((await ws.open()).receipt.outcome).toBe('cold')
    expect(await ws.output('echo on')).toBe('on')
  }, 60_000)

  test('a container that never listens is transient, in time', async () => {
    const fault = bench.testbed.faults.inject({ kind: 'never-listens' })
    const startedAt = performance.now()
    const error = await bench.open('deaf', { options: { pace: 30 } }).catch((each: unknown) => each)
    fault.remove()
    expect(performance.now() - startedAt).toBeLessThan(DEADLINE_MS)
    expect((error as RemoteError).told).toMatchObject({
      name: 'WorkspaceFailedError',
      code: 'provider-failed',
      transient: true,
    })
  }, 60_000)

  test('a platform without room is transient, and asks for time', async () => {
    const fault = bench.testbed.faults.inject({ kind: 'capacity', reason: 'max-instances' })
    const options = { isImpatient: true }
    const error = await bench.open('full', { options }).catch((each: unknown) => each)
    fault.remove()
    expect(error).toBeInstanceOf(RemoteError)
    expect((error as RemoteError).told).toMatchObject({
      name: 'WorkspaceFailedError',
      code: 'provider-failed',
      transient: true,
    })
    expect((await bench.open('full', { options })).opened?.receipt.outcome).toBe('created')
  }, 120_000)

  test('a slow start is waited for', async () => {
    const fault = bench.testbed.faults.inject({ kind: 'slow-start', delayMs: 2000, times: 1 })
    const ws = await bench.open('slow')
    fault.remove()
    expect(ws.opened?.receipt.outcome).toBe('created')
  }, 60_000)

  test('an end that is refused is never told as done', async () => {
    const ws = await bench.open('refused', {
      config: { destroyOnClose: true },
      options: { pace: 10 },
    })
    const fault = bench.testbed.faults.inject({
      kind: 'refused-destroy',
      step: 'both',
      sandbox: ws.id,
    })
    await expect(ws.call('close')).rejects.toMatchObject({ code: 'provider-failed' })
    expect(await bench.testbed.sandbox(ws.id)).toBeDefined()
    fault.remove()
    await ws.call('close')
    expect(await bench.testbed.sandbox(ws.id)).toBeUndefined()
  }, 120_000)

  test('a stored snapshot comes back exactly into a cold container', async () => {
    const config = { backupR2Binding: 'BACKUP_BUCKET', autoRestore: true } as const
    const ws = await bench.open('restored', { config })
    await ws.call('shell.run', 'echo kept > kept; mkdir -p .hidden/d; ln -s kept link')
    await ws.call('snapshot.snapshot')
    await ws.call('shell.run', 'echo later > later; rm kept')
    const ref = await ws.call('changedRef')
    await bench.testbed.sleepNow(ws.id)
    expect((await ws.resolve(ref)).receipt.outcome).toBe('restored')
    expect(await ws.output('ls -A; cat link')).toBe('.hidden\nkept\nlink\nkept')
  }, 60_000)
})

async function codeOfResolve(ws: RemoteWorkspace): Promise<string> {
  return ws.resolve().then(
    () => 'no error',
    (error: unknown) =>
      error instanceof RemoteError ? (error.code ?? error.message) : String(error),
  )
}

/** Before 2026-04-21 errors cross from object to object by their texts only. */
const OLD_DATE = '2026-04-20'

describe.skipIf(!availability.available)(`in workerd of an old date${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start('local', OLD_DATE)), 60_000)
  afterAll(() => bench?.testbed.stop(), 60_000)

  const cuts = Object.entries(faults).filter(([name]) => name !== 'a slow network')
  test.each(cuts)(
    '%s, at every operation',
    async (name, expectation) => {
      expect(await meetEverywhere(bench, name, expectation)).toBe(operations.length)
    },
    60_000,
  )

  test('a container that slept acts on nothing, and files keep their codes', async () => {
    const ws = await openPrepared(bench, 'slept')
    expect(await codeOf(ws.call('fs.readFile', '/none'))).toBe('not-found')
    expect(await codeOf(ws.call('code.runInContext', 'none', '1'))).toBe('invalid-input')
    await bench.testbed.sleepNow(ws.id)
    expect(await attempt(ws, { name: 'shell.run', given: ['true'] })).toBe(EVICTED)
    expect(await codeOfResolve(ws)).toBe('lost')
  }, 60_000)
})
