import { ManualClock } from '@helix-agents/core/testing'
import {
  type AdmissionRequest,
  Fleet,
  type FleetPolicyInput,
  MemoryFleetStore,
} from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { FakeDriver, finish, HOUR_MS, MINUTE_MS } from '../fleet-harness.ts'
import { codeOf } from '../store/store-samples.ts'

function setup(policy: FleetPolicyInput = {}) {
  const clock = new ManualClock(1_700_000_000_000)
  const store = new MemoryFleetStore()
  const driver = new FakeDriver()
  const options = { store, drivers: [driver], environment: 'test', clock, random: () => 0.5 }
  const fleet = new Fleet({ ...options, policy, instanceId: 'one' })
  const create = async (id: string): Promise<void> => void driver.alive.set(id, {})
  const open = (id: string, request: Partial<AdmissionRequest> = {}) =>
    fleet.admission.open({ id, provider: 'fake', ...request }, create)
  return { clock, create, driver, fleet, open, options, store }
}

describe('admission', () => {
  test('records the intent before the sandbox is made', async () => {
    const { fleet, store } = setup()
    let before: string | undefined
    await fleet.admission.open({ id: 'a', provider: 'fake', sessionId: 's' }, async (id) => {
      before = (await store.get(id))?.status
    })
    expect(before).toBe('provisioning')
    expect(await store.get('a')).toMatchObject({
      status: 'running',
      sessionId: 's',
      lease: { kind: 'owner', holder: 'process:one' },
    })
  })

  test('refuses when as many as allowed are active, whichever process asks', async () => {
    const { create, open, options } = setup({ maxConcurrentSandboxes: 2 })
    const other = new Fleet({ ...options, policy: { maxConcurrentSandboxes: 2 } })
    const results = await Promise.all([
      codeOf(open('a')),
      codeOf(other.admission.open({ id: 'b', provider: 'fake' }, create)),
      codeOf(open('c')),
      codeOf(other.admission.open({ id: 'd', provider: 'fake' }, create)),
    ])
    expect(results.toSorted()).toEqual([
      'capacity-exhausted',
      'capacity-exhausted',
      'no error',
      'no error',
    ])
    await expect(open('e')).rejects.toThrow('Maximum sandbox limit reached')
  })

  test('queues in the order of asking, and goes on as soon as there is room', async () => {
    const { clock, fleet, open } = setup({ maxConcurrentSandboxes: 1 })
    const first = await open('a')
    const done: string[] = []
    const wait = (id: string) =>
      open(id, { onFull: 'queue' }).then((lease) => (done.push(id), lease))
    const second = wait('b')
    const third = wait('c')
    await clock.advance(0)
    expect([fleet.admission.queueLength, done]).toEqual([2, []])
    await finish(clock, first.terminate())
    const lease = await finish(clock, second)
    expect(done).toEqual(['b'])
    await finish(clock, lease.terminate())
    await finish(clock, third)
    expect([fleet.admission.queueLength, done]).toEqual([0, ['b', 'c']])
  })

  test('waits no longer than asked', async () => {
    const { clock, open } = setup({ maxConcurrentSandboxes: 1 })
    await open('a')
    const waiting = codeOf(open('b', { onFull: 'queue', queueTimeoutMs: 5000 }))
    await clock.advance(6000)
    expect(await waiting).toBe('capacity-exhausted')
  })

  test('a sandbox that cannot be made is recorded as failed, and its place is given back later', async () => {
    const { clock, fleet, store } = setup()
    const rejected = new Error('no room at the provider')
    const opening = fleet.admission.open({ id: 'a', provider: 'fake' }, () =>
      Promise.reject(rejected),
    )
    await expect(opening).rejects.toBe(rejected)
    expect(await store.get('a')).toMatchObject({ status: 'failed', lastError: { code: 'unknown' } })
    await clock.advance(5 * MINUTE_MS)
    await finish(clock, fleet.cleanup())
    expect((await store.get('a'))?.status).toBe('terminated')
  })

  test('a sandbox that does not come in time is given up', async () => {
    const { clock, fleet, store } = setup()
    let aborted: unknown
    const opening = fleet.admission.open({ id: 'a', provider: 'fake' }, (_, signal) => {
      signal.addEventListener('abort', () => (aborted = signal.reason))
      return new Promise(() => undefined)
    })
    const code = codeOf(opening)
    await clock.advance(2 * MINUTE_MS)
    expect(await code).toBe('driver-failed')
    expect(aborted).toMatchObject({ code: 'driver-failed' })
    expect((await store.get('a'))?.status).toBe('failed')
  })
})

test('of 60 that come at once never more than 10 are active, and all have their turn', async () => {
  const { clock, driver, fleet, options } = setup()
  const other = new Fleet({ ...options, instanceId: 'two' })
  let most = 0
  const served: string[] = []
  const use = async (id: string, admission: Fleet['admission']): Promise<void> => {
    const request = { id, provider: 'fake', onFull: 'queue', queueTimeoutMs: HOUR_MS } as const
    const lease = await admission.open(request, async () => {
      driver.alive.set(id, {})
      most = Math.max(most, driver.alive.size)
      await clock.sleep(2000)
    })
    await lease.run(() => clock.sleep(5000))
    served.push(id)
    expect(await lease.terminate()).toBe('destroyed')
  }
  const work = Array.from({ length: 60 }, (_, n) =>
    use(`box-${n}`, n % 2 === 0 ? fleet.admission : other.admission),
  )
  await finish(clock, Promise.all(work))
  expect(most).toBe(10)
  expect(new Set(served).size).toBe(60)
  const ofFirst = served.filter((id) => Number(id.slice(4)) % 2 === 0)
  expect(ofFirst).toEqual(ofFirst.toSorted((a, b) => Number(a.slice(4)) - Number(b.slice(4))))
  const gone = { active: 0, totalCreated: 60, totalDestroyed: 60, capacity: 10 }
  expect(await fleet.stats()).toMatchObject(gone)
  expect([fleet.admission.queueLength, clock.pendingTimers]).toEqual([0, 0])
})

test('the eleventh is rejected at once, and nothing is left of it', async () => {
  const { driver, open, store } = setup()
  for (let n = 0; n < 10; n += 1) await open(`box-${n}`)
  expect(await codeOf(open('eleventh'))).toBe('capacity-exhausted')
  expect([driver.alive.size, await store.get('eleventh')]).toEqual([10, undefined])
})

describe('the pool', () => {
  test('gives out what waits in it, to one at a time', async () => {
    const { driver, open, store } = setup()
    const first = await open('a')
    await first.release({ pool: 'blue' })
    expect((await store.get('a'))?.lease).toMatchObject({ kind: 'pool', holder: 'blue' })
    const [x, y] = await Promise.all([
      open('b', { pool: 'blue', holder: 'x' }),
      open('c', { pool: 'blue', holder: 'y' }),
    ])
    expect([x.id, y.id].toSorted()).toEqual(['a', x.id === 'a' ? 'c' : 'b'])
    expect([x.wasReused, y.wasReused].filter(Boolean)).toHaveLength(1)
    expect(driver.alive.size).toBe(2)
  })

  test('gives out nothing of another pool, that is over its time, or that is not seen running', async () => {
    const { clock, driver, open } = setup()
    await (await open('a')).release({ pool: 'red' })
    await (await open('b')).release({ pool: 'blue' })
    await (await open('c')).release({ pool: 'blue' })
    driver.alive.delete('c')
    expect((await open('d', { pool: 'blue' })).id).toBe('b')
    await clock.advance(6 * MINUTE_MS)
    expect((await open('e', { pool: 'red' })).id).toBe('e')
  })
})

test('what one tenant left in a pool goes to no other, and belongs to who takes it', async () => {
  const { open, store } = setup()
  const labels = { sessionId: 'old', agentType: 'x', taskId: 't', tenant: 'red' }
  await (await open('a', labels)).release({ pool: 'p' })
  expect((await open('b', { pool: 'p', tenant: 'blue' })).id).toBe('b')
  expect((await open('c', { pool: 'p' })).id).toBe('c')
  expect((await open('d', { pool: 'p', tenant: 'red', sessionId: 'new' })).id).toBe('a')
  const record = await store.get('a')
  expect(record).toMatchObject({ sessionId: 'new', tenant: 'red' })
  expect([record?.agentType, record?.taskId]).toEqual([undefined, undefined])
})

describe('a lease', () => {
  test('is over when somebody else ended its sandbox, and touches no later life of it', async () => {
    const { clock, driver, fleet, open, store } = setup()
    const lease = await open('a')
    let reason: unknown
    const running = lease.run(
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject((reason = signal.reason)))
        }),
    )
    const failed = running.catch((error: unknown) => error)
    await finish(clock, fleet.terminate('a'))
    const next = await open('a', { holder: 'next' })
    await clock.advance(MINUTE_MS)
    expect(await failed).toBe(reason)
    expect(reason).toMatchObject({ code: 'invalid-transition', sandboxId: 'a' })
    expect(await codeOf(lease.run(async () => 1))).toBe('invalid-transition')
    expect(await lease.terminate()).toBe('gone')
    await lease.release()
    expect(await store.get('a')).toMatchObject({ status: 'running', generation: 2, operations: 0 })
    expect((await store.get('a'))?.lease).toMatchObject({ kind: 'owner', holder: 'next' })
    expect(driver.alive.has('a')).toBe(true)
    await next.release()
  })

  test('is renewed until it is let go', async () => {
    const { clock, open, store } = setup()
    const lease = await open('a')
    await clock.advance(10 * MINUTE_MS)
    expect((await store.get('a'))?.lease?.until).toBeGreaterThan(clock.now())
    await lease.release()
    await lease.release()
    expect((await store.get('a'))?.lease).toBeUndefined()
    expect(clock.pendingTimers).toBe(0)
    expect(await codeOf(lease.run(async () => 1))).toBe('invalid-transition')
  })

  test('counts operations', async () => {
    const { open, store, clock } = setup()
    const lease = await open('a')
    expect(await lease.run(async () => 'done')).toBe('done')
    await expect(lease.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await store.get('a')).toMatchObject({ operations: 2, timeouts: 0 })
    expect(await store.usageSince(clock.now())).toEqual({ executions: 2, timeouts: 0 })
    await lease.release()
  })

  test('an operation has as long as its own `timeoutMs` says', async () => {
    const { clock, driver, open } = setup()
    const lease = await open('a')
    const running = codeOf(lease.run(() => new Promise(() => undefined), { timeoutMs: 1000 }))
    await clock.advance(999)
    expect(driver.terminated).toEqual([])
    await clock.advance(1)
    expect(await finish(clock, running)).toBe('operation-timeout')
    expect(driver.terminated).toEqual(['a'])
  })

  test('ends the sandbox of an operation that hangs', async () => {
    const { clock, driver, open, store } = setup()
    const lease = await open('a')
    let reason: unknown
    const running = codeOf(
      lease.run((signal) => {
        signal.addEventListener('abort', () => (reason = signal.reason))
        return new Promise(() => undefined)
      }),
    )
    await clock.advance(5 * MINUTE_MS)
    expect(await finish(clock, running)).toBe('operation-timeout')
    expect(reason).toMatchObject({ code: 'operation-timeout', sandboxId: 'a' })
    expect(driver.terminated).toEqual(['a'])
    expect(await store.get('a')).toMatchObject({
      status: 'terminated',
      timeouts: 1,
      kill: { reason: 'operation-timeout' },
    })
    expect(clock.pendingTimers).toBe(0)
  })
})
