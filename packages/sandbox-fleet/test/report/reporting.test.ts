import { FleetError } from '@helix-agents/core/runtime'
import { createLifecycleListener, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { LedgerReporter } from '../../src/report/ledger-reporter.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { finish, HOUR_MS, MINUTE_MS, setup, statusOf } from '../fleet-harness.ts'

function setupReporter(store = new MemoryFleetStore()) {
  const fleet = setup({ store })
  const reporter = new LedgerReporter(fleet.context, 'run-1')
  return { ...fleet, store, reporter }
}

const sandbox = { id: 'a', provider: 'fake', sessionId: 's', agentType: 'coder' }

describe('a reporter', () => {
  test('records a life from its intent to its end', async () => {
    const { clock, reporter, store } = setupReporter()
    reporter.provisioning(sandbox)
    reporter.opened(sandbox)
    await finish(clock, reporter.flush())
    expect(await store.get('a')).toMatchObject({
      status: 'running',
      sessionId: 's',
      agentType: 'coder',
      environment: 'test',
      lease: { kind: 'owner', holder: 'run-1' },
    })
    reporter.closed('a')
    await finish(clock, reporter.flush())
    expect(await statusOf(store, 'a')).toBe('terminated')
  })

  test('keeps the lease, and writes seldom however much is done', async () => {
    const { clock, reporter, store } = setupReporter()
    reporter.opened(sandbox)
    await finish(clock, reporter.flush())
    const { version = 0 } = (await store.get('a')) ?? {}
    for (let n = 0; n < 1000; n += 1) {
      reporter.activity('a', { succeeded: n % 2 === 0 })
      await clock.advance(100)
    }
    await clock.advance(HOUR_MS)
    await reporter.flush()
    const record = await store.get('a')
    expect(record).toMatchObject({ operations: 1000, status: 'running' })
    expect((record?.version ?? 0) - version).toBeLessThan(100)
    expect(record?.lease?.until).toBeGreaterThan(clock.now())
    expect(await store.usageSince(0)).toEqual({ executions: 1000, timeouts: 0 })
    await reporter.stop()
    expect(clock.pendingTimers).toBe(0)
  })

  test('what is detached waits for its session, what is released for nobody', async () => {
    const { clock, reporter, store } = setupReporter()
    reporter.opened(sandbox)
    reporter.opened({ ...sandbox, id: 'b' })
    reporter.detached('a')
    reporter.released('b')
    await finish(clock, reporter.flush())
    expect((await store.get('a'))?.lease).toMatchObject({ kind: 'detached' })
    expect((await store.get('b'))?.lease).toBeUndefined()
  })

  test('what is owed is destroyed by the next cleanup', async () => {
    const { clock, context, driver, reporter, store } = setupReporter()
    driver.alive.set('a', {})
    reporter.opened(sandbox)
    reporter.owed('a', 'its close took too long')
    await finish(clock, reporter.flush())
    expect(await store.get('a')).toMatchObject({
      status: 'terminating',
      kill: { reason: 'owner-closed' },
    })
    const report = await finish(clock, runCleanup(context, 'scheduled'))
    expect(report.items).toMatchObject([{ id: 'a', action: 'retry', outcome: 'destroyed' }])
  })

  test('a ledger that is away for a moment loses nothing', async () => {
    class FlakyStore extends MemoryFleetStore {
      failures = 3
      override get(id: string) {
        this.failures -= 1
        if (this.failures >= 0) return Promise.reject(new FleetError('unavailable', 'away'))
        return super.get(id)
      }
    }
    const { clock, logger, reporter, store } = setupReporter(new FlakyStore())
    reporter.opened(sandbox)
    await finish(clock, reporter.flush())
    expect(await statusOf(store, 'a')).toBe('running')
    expect(logger.lines).toEqual([])
  })

  test('a ledger that was away for too long hears of what is held as soon as it is back', async () => {
    class AwayStore extends MemoryFleetStore {
      isAway = true
      override create(...args: Parameters<MemoryFleetStore['create']>) {
        if (this.isAway) return Promise.reject(new FleetError('unavailable', 'away'))
        return super.create(...args)
      }
    }
    const store = new AwayStore()
    const { clock, logger, reporter } = setupReporter(store)
    reporter.opened(sandbox)
    await clock.advance(5 * MINUTE_MS)
    expect(logger.with('Sandbox report lost').length).toBeGreaterThan(0)
    store.isAway = false
    await clock.advance(2 * MINUTE_MS)
    expect(await store.get('a')).toMatchObject({ status: 'running', sessionId: 's' })
    await reporter.stop()
  })

  test('one that is opened again before anybody destroys it is not destroyed', async () => {
    const { clock, context, driver, reporter, store } = setupReporter()
    driver.alive.set('a', {})
    reporter.opened(sandbox)
    reporter.owed('a', 'its close took too long')
    reporter.opened(sandbox)
    await finish(clock, reporter.flush())
    expect(await store.get('a')).toMatchObject({ status: 'running', generation: 1 })
    await clock.advance(HOUR_MS)
    expect((await finish(clock, runCleanup(context, 'scheduled'))).items).toEqual([])
    expect(driver.terminated).toEqual([])
    await reporter.stop()
  })

  test('one that is opened again while it is being destroyed starts a new life', async () => {
    const { clock, context, driver, reporter, store } = setupReporter()
    const slow = Promise.withResolvers<void>()
    driver.alive.set('a', {})
    driver.onTerminate = ({ id }) => slow.promise.then(() => void driver.alive.delete(id))
    reporter.opened(sandbox)
    reporter.owed('a', 'its close took too long')
    await clock.advance(0)
    const pass = runCleanup(context, 'scheduled')
    await clock.advance(0)
    reporter.opened(sandbox)
    await clock.advance(1000)
    expect(await statusOf(store, 'a')).toBe('terminating')
    slow.resolve()
    await finish(clock, pass)
    await finish(clock, reporter.flush())
    expect(await store.get('a')).toMatchObject({ status: 'running', generation: 2 })
    await reporter.stop()
  })

  test('counts timeouts, and those in a row', async () => {
    const { clock, reporter, store } = setupReporter()
    reporter.opened(sandbox)
    const told = async (...results: readonly boolean[]) => {
      for (const timedOut of results) reporter.activity('a', { timedOut })
      await clock.advance(MINUTE_MS)
      const { consecutiveTimeouts, timeouts } = (await store.get('a')) ?? {}
      return [timeouts, consecutiveTimeouts]
    }
    await finish(clock, reporter.flush())
    expect(await told(true, true)).toEqual([2, 2])
    expect(await told(true)).toEqual([3, 3])
    expect(await told(true, false, true)).toEqual([5, 1])
    expect(await told(false)).toEqual([5, 0])
    expect(await store.usageSince(0)).toEqual({ executions: 7, timeouts: 5 })
    await reporter.stop()
  })

  test('what the ledger refuses is logged, and nothing is thrown', async () => {
    const { clock, logger, reporter } = setupReporter()
    reporter.opened({ ...sandbox, id: '../bad' })
    reporter.closed('unheard-of')
    reporter.activity('unheard-of')
    await finish(clock, reporter.flush())
    expect(logger.with('Sandbox report lost')).toHaveLength(2)
  })

  test('a sandbox that the fleet took is not claimed any more', async () => {
    const { clock, context, driver, reporter, store } = setupReporter()
    driver.alive.set('a', {})
    reporter.opened({ ...sandbox, maxLifetimeMs: 3 * MINUTE_MS })
    await finish(clock, reporter.flush())
    await clock.advance(4 * MINUTE_MS)
    await finish(clock, runCleanup(context, 'scheduled'))
    await clock.advance(2 * MINUTE_MS)
    await reporter.flush()
    expect(await store.get('a')).toMatchObject({
      status: 'terminated',
      kill: { reason: 'deadline' },
    })
    expect(clock.pendingTimers).toBe(0)
  })
})

function setupListener(onEnd: 'gone' | 'released') {
  const parts = setupReporter()
  const listener = createLifecycleListener(parts.reporter, {
    providers: { fake: { onEnd, idOf: () => 'from-ref' } },
    labels: () => ({ taskId: 't' }),
  })
  return { ...parts, listener }
}

describe('the listener of the runtime', () => {
  const session = { sessionId: 's', agentType: 'coder' }
  const ref = {
    providerId: 'fake',
    schemaVersion: 1,
    capabilities: { fs: true },
    ref: { id: 'x' },
  } as const
  const event = { workspace: 'box', providerId: 'fake', session, workspaceId: 'a', ref } as const

  test('reports what happens to the workspaces of its providers, and to no others', async () => {
    const { clock, listener, reporter, store } = setupListener('gone')
    listener.onOpen?.({ ...event, receipt: { outcome: 'created' } })
    listener.onOpen?.({
      ...event,
      providerId: 'toString',
      workspaceId: 'b',
      receipt: { outcome: 'created' },
    })
    listener.onActivity?.({ ...event, succeeded: true, timedOut: false })
    await finish(clock, reporter.flush())
    expect(await store.get('a')).toMatchObject({ status: 'running', taskId: 't', sessionId: 's' })
    expect(await store.get('b')).toBeUndefined()
    listener.onClose?.({ ...event, mode: 'end' })
    await finish(clock, reporter.flush())
    expect(await statusOf(store, 'a')).toBe('terminated')
  })

  test('an end that keeps the sandbox is a release', async () => {
    const { clock, listener, reporter, store } = setupListener('released')
    listener.onOpen?.({ ...event, receipt: { outcome: 'created' } })
    listener.onClose?.({ ...event, mode: 'end' })
    await finish(clock, reporter.flush())
    expect(await statusOf(store, 'a')).toBe('running')
  })

  test('a close that never reached it is owed by its ref', async () => {
    const { clock, listener, reporter, store } = setupListener('gone')
    listener.onOpen?.({ ...event, workspaceId: 'from-ref', receipt: { outcome: 'created' } })
    const { workspaceId: _id, ...unreached } = event
    listener.onOwed?.({ ...unreached, reason: 'failed' })
    await finish(clock, reporter.flush())
    expect(await statusOf(store, 'from-ref')).toBe('terminating')
  })
})
