// Who lets go of workspaces, who ends them, and what happens when that does not work.
import { defineAgent } from '@helix-agents/core'
import { logMessages, type Workspace, type WorkspaceProvider } from '@helix-agents/core/provider'
import type { OwedDestroy, SessionStateStore } from '@helix-agents/core/runtime'
import { createRecordingMetrics, ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import { calls, createHarness, say, settle } from './harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const write = calls(['workspace__box__write_file', { path: '/a', content: 'x' }])
const broken = () => Promise.reject(new Error('no model today'))
const stuck = () => new Promise<never>(() => {})

/** A provider that notes how its workspaces are left, and may hang with it. */
function observedProvider() {
  const inner = new InMemoryWorkspaceProvider()
  const left: string[] = []
  const hangs = new Set<string>()
  const observed = (ws: Workspace): Workspace => {
    const leave = (how: 'close' | 'detach') => async (): Promise<void> => {
      left.push(how)
      if (hangs.has(how)) await stuck()
      await ws[how]?.()
    }
    return { ...ws, fs: ws.fs!, close: leave('close'), detach: leave('detach') }
  }
  const provider: WorkspaceProvider = {
    providerId: inner.providerId,
    capabilities: inner.capabilities,
    refSchemaVersion: inner.refSchemaVersion,
    open: async (config, session, options) => {
      const opened = await inner.open(config as never, session, options)
      return { ...opened, ws: observed(opened.ws) }
    },
    resolve: async (...args) => {
      const opened = await inner.resolve(...args)
      return { ...opened, ws: observed(opened.ws) }
    },
  }
  return { provider, left, hangs }
}

function observedHarness(steps: Parameters<typeof createHarness>[0]) {
  const { provider, left, hangs } = observedProvider()
  const clock = new ManualClock()
  const metrics = createRecordingMetrics()
  const owed: OwedDestroy[] = []
  const harness = createHarness(steps, {
    clock,
    metrics,
    workspaceProviders: [provider],
    workspaceRegistry: { closeTimeoutMs: 30_000, onOwedDestroy: (one) => void owed.push(one) },
  })
  return { harness, clock, metrics, owed, left, hangs }
}

const ENDS = { sessionId: 's', keepWorkspaces: false }

const refsOf = async (store: SessionStateStore) =>
  Object.keys((await store.loadSession('s'))!.workspaceRefs)

describe('the end of a run', () => {
  test('ends the workspaces of a completed and of an aborted one that does not keep them', async () => {
    const { harness, left } = observedHarness([write, say('end'), write, stuck])
    await (await harness.executor.execute(agent, 'x', ENDS)).result()
    expect([left, await refsOf(harness.store)]).toEqual([['close'], []])
    const second = await harness.executor.execute(agent, 'x', ENDS)
    await settle()
    await second.abort()
    expect((await second.result()).status).toBe('aborted')
    expect([left, await refsOf(harness.store)]).toEqual([['close', 'close'], []])
  })

  test('lets go of those that are kept, interrupted, failed or shut down', async () => {
    const script = [write, say('end'), write, broken, write, stuck]
    const { harness, clock, left } = observedHarness(script)
    const options = { sessionId: 's', keepWorkspaces: true }
    await (await harness.executor.execute(agent, 'x', options)).result()
    const failed = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    expect((await failed.result()).status).toBe('failed')
    const running = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    await settle()
    const shutdown = harness.executor.shutdown({ timeoutMs: 0 })
    await settle()
    expect(left).toEqual(['detach', 'detach'])
    await clock.advance(0)
    await shutdown
    expect((await running.result()).status).toBe('interrupted')
    expect(await harness.store.loadSession('s')).toMatchObject({ error: { code: 'shutdown' } })
    expect(left).toEqual(['detach', 'detach', 'detach'])
    expect(await refsOf(harness.store)).toEqual(['box'])
  })
})

describe('a close that hangs', () => {
  test('is logged, counted, reported, and left owed with the session', async () => {
    const { harness, clock, metrics, owed, hangs } = observedHarness([write, say('end')])
    hangs.add('close')
    const handle = await harness.executor.execute(agent, 'x', ENDS)
    await settle()
    await clock.advance(30_000)
    expect(await handle.result()).toMatchObject({ status: 'completed', output: 'end' })
    expect(harness.logger.with(logMessages.closeTimedOut)).toHaveLength(1)
    expect(metrics.count('incCloseTimeout')).toBe(1)
    expect(owed).toMatchObject([
      { workspace: 'box', reason: 'timeout', session: { sessionId: 's' }, ref: expect.anything() },
    ])
    expect(await refsOf(harness.store)).toEqual(['box'])
    expect((await harness.store.loadSession('s'))!.owed).toEqual(['box'])
  })

  test.each(['run', 'abort'] as const)('is tried again by a later %s', async (later) => {
    const { harness, clock, left, hangs, owed } = observedHarness([write, say('end'), say('more')])
    hangs.add('close')
    const handle = await harness.executor.execute(agent, 'x', ENDS)
    await settle()
    await clock.advance(30_000)
    await handle.result()
    hangs.clear()
    if (later === 'run') {
      await (await harness.executor.execute(agent, 'y', { sessionId: 's' })).result()
    } else {
      await handle.abort()
    }
    expect(left).toEqual(['close', 'close'])
    expect([owed.length, await refsOf(harness.store)]).toEqual([1, []])
    const head = await harness.store.loadSession('s')
    expect(head).toMatchObject({ status: 'completed', output: later === 'run' ? 'more' : 'end' })
  })
})

describe('a shutdown', () => {
  test('ends within its time when a provider hangs', async () => {
    const { harness, clock, hangs } = observedHarness([write, stuck])
    hangs.add('detach')
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    await settle()
    let isDown = false
    const shutdown = harness.executor.shutdown({ timeoutMs: 1_000, graceMs: 500 })
    void shutdown.then(() => (isDown = true))
    await clock.advance(1_499)
    expect(isDown).toBe(false)
    await clock.advance(1)
    await shutdown
    expect(harness.logger.with('shutdown did not finish')).toMatchObject([
      { fields: { sessionIds: ['s'] } },
    ])
    // The workspace is left with its session, for the next process.
    expect(await refsOf(harness.store)).toEqual(['box'])
    await clock.advance(30_000)
    expect((await handle.result()).status).toBe('interrupted')
  })

  test.each(['fails', 'does not answer'])('ends within its time when the store %s', async (how) => {
    const { harness, clock } = observedHarness([write, stuck])
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    await settle()
    const down = how === 'fails' ? () => Promise.reject(new Error('store is down')) : stuck
    Object.assign(harness.store, { endRun: down, renewRun: down, saveWorkspaceRef: down })
    const shutdown = harness.executor.shutdown({ timeoutMs: 1_000, graceMs: 500 })
    await clock.advance(1_500)
    await expect(shutdown).resolves.toBeUndefined()
    const result = Promise.race([handle.result(), settle().then(() => ({ status: 'unknown' }))])
    expect((await result).status).toBe(how === 'fails' ? 'failed' : 'unknown')
  })
})
