import { WorkspaceEvictedError, WorkspaceFailedError } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import type { RegistryDeps } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import { codeOf, once, ref, settle, setup } from './harness.ts'

const end = { mode: 'end' } as const
const detach = { mode: 'detach' } as const
const fs = {} as FileSystem
const persistRef: RegistryDeps['persistRef'] = async (_, value) => {
  if (value === null) throw new Error('no store')
}
const never = () => new Promise<void>(() => {})

describe('close', () => {
  test('end closes the backend and forgets its ref', async () => {
    const { registry, events, persisted, metrics, stateOf } = setup()
    await registry.acquire('box')
    await registry.close(end)
    expect(events).toEqual(['open', 'persist b1', 'close b1', 'persist null'])
    expect(persisted.size).toBe(0)
    expect(metrics.calls('incClose')).toEqual([[{ workspace: 'box', providerId: 'fake' }, 'end']])
    expect(stateOf().state).toBe('closed')
  })

  test('detach keeps the backend and its ref', async () => {
    const { registry, provider, events, persisted } = setup()
    await registry.acquire('box')
    await registry.close(detach)
    expect(events).toEqual(['open', 'persist b1', 'detach b1'])
    expect([provider.stored.size, persisted.size]).toEqual([1, 1])
  })

  test('a workspace without detach is let go', async () => {
    const { registry, provider, metrics } = setup()
    provider.onOpen = () => ({ ws: { id: 'b1', isolation: 'none', fs, close: never } })
    await registry.acquire('box')
    await registry.close(detach)
    expect(metrics.count('incClose')).toBe(1)
  })

  test('twice is one effect, whatever the second asks for', async () => {
    const { registry, events } = setup()
    await registry.acquire('box')
    await Promise.all([registry.close(detach), registry.close(end), registry.close(detach)])
    await registry.close(end)
    expect(events).toEqual(['open', 'persist b1', 'detach b1'])
  })

  test('no operation begins afterwards, in whichever turn of its open the close comes', async () => {
    const begunLate: number[] = []
    for (let turns = 0; turns < 60; turns++) {
      const { registry } = setup()
      let isClosed = false
      const used = registry.use('box', async () => {
        if (isClosed) begunLate.push(turns)
      })
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      isClosed = true
      await Promise.allSettled([registry.close(end), used])
    }
    expect(begunLate).toEqual([])
  })

  test('nothing runs afterwards', async () => {
    const { registry, events } = setup({ names: ['box', 'other'] })
    await registry.acquire('box')
    const closing = registry.close(end)
    expect(await codeOf(registry.use('box', async () => events.push('ran'), once))).toBe('closed')
    await closing
    expect(await codeOf(registry.use('other', async () => events.push('ran'), once))).toBe('closed')
    expect(await codeOf(registry.acquire('box'))).toBe('closed')
    expect(await codeOf(registry.switchTo('box', ref('b1')))).toBe('closed')
    expect(() => registry.reset('box')).toThrow(expect.objectContaining({ code: 'closed' }))
    expect(events).not.toContain('ran')
  })

  test('an eviction after the close does not open again', async () => {
    const { registry, events } = setup()
    const held = Promise.withResolvers<void>()
    const use = registry.use('box', () => held.promise, { idempotent: true })
    await settle()
    await registry.close(detach)
    held.reject(new WorkspaceEvictedError('gone'))
    expect(await codeOf(use)).toBe('closed')
    expect(events).toEqual(['open', 'persist b1', 'detach b1'])
  })
})

describe('a close that goes wrong', () => {
  test('an overrun is logged, counted and reported; the others still close', async () => {
    const { registry, provider, events, clock, logger, metrics, owed, persisted, stateOf } = setup({
      names: ['a', 'b', 'c'],
    })
    await registry.openAll()
    provider.onClose = (id) => (id === 'b1' ? never() : undefined)
    const closing = registry.close(end)
    await settle()
    expect(events.filter((event) => event.startsWith('close'))).toHaveLength(3)
    await clock.advance(29_999)
    expect([stateOf('a').state, stateOf('b').state]).toEqual(['closing', 'closed'])
    await clock.advance(1)
    await closing
    expect(logger.with('workspace close timed out')).toMatchObject([{ level: 'error' }])
    expect(metrics.count('incCloseTimeout')).toBe(1)
    expect(owed).toMatchObject([
      { workspace: 'a', providerId: 'fake', reason: 'timeout', ref: { ref: { id: 'b1' } } },
    ])
    expect([...persisted.keys()]).toEqual(['a'])
    expect(stateOf('a').state).toBe('closed')
  })

  test('a failure is logged and reported; the ref stays', async () => {
    const { registry, provider, logger, owed, persisted } = setup({ names: ['a', 'b'] })
    await registry.openAll()
    provider.onClose = (id) => {
      if (id === 'b1') throw new Error('stuck')
    }
    await registry.close(end)
    expect(logger.with('workspace close failed')).toHaveLength(1)
    expect(owed).toMatchObject([{ workspace: 'a', reason: 'failed' }])
    expect([...persisted.keys()]).toEqual(['a'])
  })

  test('a detach that hangs owes no destroy', async () => {
    const { registry, provider, clock, owed, logger } = setup()
    await registry.acquire('box')
    provider.onDetach = never
    const closing = registry.close(detach)
    await clock.advance(30_000)
    await closing
    expect(owed).toEqual([])
    expect(logger.with('workspace close timed out')).toHaveLength(1)
  })

  test('a fleet that fails or hangs does not keep the session open', async () => {
    for (const onOwedDestroy of [never, () => Promise.reject(new Error('fleet is down'))]) {
      const { registry, provider, clock } = setup({ deps: { onOwedDestroy } })
      await registry.acquire('box')
      provider.onClose = () => Promise.reject(new Error('stuck'))
      const closing = registry.close(end)
      await clock.advance(30_000)
      expect(await closing).toEqual({ owed: ['box'] })
    }
  })

  test('a ref that cannot be removed is logged; the backend is gone and not owed', async () => {
    const { registry, logger, owed } = setup({ deps: { persistRef } })
    await registry.acquire('box')
    await registry.close(end)
    expect(logger.with('workspace close failed')).toHaveLength(1)
    expect(owed).toEqual([])
  })
})

describe('close during an open', () => {
  test('end: the open is aborted; what it still brings is closed', async () => {
    const { registry, provider, events, persisted } = setup()
    const held = Promise.withResolvers<void>()
    let seen: AbortSignal | undefined
    provider.onOpen = (signal) => {
      seen = signal
      return held.promise
    }
    const code = codeOf(registry.use('box', async () => events.push('ran'), once))
    await settle()
    const closing = registry.close(end)
    expect(seen?.aborted).toBe(true)
    held.resolve()
    await closing
    expect(await code).toBe('closed')
    expect(events).toEqual(['open', 'persist b1', 'close b1', 'persist null'])
    expect([provider.stored.size, persisted.size]).toEqual([0, 0])
  })

  test('detach: what it still brings is persisted and detached', async () => {
    const { registry, provider, events, persisted } = setup()
    const held = Promise.withResolvers<void>()
    provider.onOpen = () => held.promise
    const code = codeOf(registry.acquire('box'))
    await settle()
    const closing = registry.close(detach)
    held.resolve()
    await closing
    expect(await code).toBe('closed')
    expect(events).toEqual(['open', 'persist b1', 'detach b1'])
    expect(persisted.size).toBe(1)
  })

  test('an open that honours the signal ends at once, and is no failure', async () => {
    const { registry, provider, metrics, logger } = setup()
    provider.onOpen = (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    const code = codeOf(registry.acquire('box'))
    await settle()
    await registry.close(end)
    expect(await code).toBe('closed')
    expect(metrics.count('incOpenFailure')).toBe(0)
    expect(logger.lines).toEqual([])
  })

  test('a wait between retries ends at once', async () => {
    const { registry, provider } = setup()
    provider.onOpen = () => {
      throw new WorkspaceFailedError('provider-failed', 'busy', { transient: true })
    }
    const code = codeOf(registry.acquire('box'))
    await settle()
    await registry.close(end)
    expect(await code).toBe('closed')
  })

  test('an open that waits for its turn ends at once', async () => {
    const { registry, provider, clock, events } = setup({
      names: ['a', 'b'],
      deps: { maxConcurrentOpens: 1 },
    })
    provider.onOpen = never
    const codes = [codeOf(registry.acquire('a')), codeOf(registry.acquire('b'))]
    await settle()
    const closing = registry.close(end)
    await settle()
    expect(await codes[1]).toBe('closed')
    await clock.advance(30_000)
    await closing
    expect(events).toEqual(['open'])
  })

  test('a backend that arrives after the time is up is closed all the same', async () => {
    const { registry, provider, clock, events, owed } = setup()
    const held = Promise.withResolvers<void>()
    provider.onOpen = () => held.promise
    const code = codeOf(registry.acquire('box'))
    await settle()
    const closing = registry.close(end)
    await clock.advance(30_000)
    await closing
    expect(owed).toMatchObject([{ reason: 'timeout' }])
    held.resolve()
    await settle()
    expect(await code).toBe('closed')
    expect(events).toContain('close b1')
  })
})

describe('close of a workspace that this run never used', () => {
  test('end resolves and closes what an earlier run left', async () => {
    const { registry, provider, events } = setup({ refs: { box: ref('b9') }, stored: ['b9'] })
    await registry.close(end)
    expect(events).toEqual(['resolve b9', 'close b9', 'persist null'])
    expect(provider.stored.size).toBe(0)
  })

  test('end of a lost one only forgets its ref', async () => {
    const { registry, events, logger } = setup({ refs: { box: ref('b9') } })
    await registry.close(end)
    expect(events).toEqual(['resolve b9', 'persist null'])
    expect(logger.lines).toEqual([])
  })

  test('end of one that does not answer is bounded and owed', async () => {
    const { registry, provider, clock, events, owed } = setup({ refs: { box: ref('b9') } })
    provider.onResolve = (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    const closing = registry.close(end)
    await clock.advance(30_000)
    await closing
    expect(events).toEqual(['resolve b9'])
    expect(owed).toMatchObject([
      { workspace: 'box', reason: 'timeout', ref: { ref: { id: 'b9' } } },
    ])
  })

  test('detach touches nothing', async () => {
    const { registry, events } = setup({ refs: { box: ref('b9') }, stored: ['b9'] })
    await registry.close(detach)
    expect(events).toEqual([])
  })

  test('without a ref nothing happens', async () => {
    const { registry, events, metrics } = setup()
    await registry.close(end)
    expect(events).toEqual([])
    expect(metrics.count('incClose')).toBe(0)
  })

  test('a permanently failed one with a ref is still reached', async () => {
    const { registry, provider, events } = setup({ refs: { box: ref('b9') }, stored: ['b9'] })
    provider.onResolve = () => {
      throw new WorkspaceFailedError('provider-failed', 'no')
    }
    await codeOf(registry.acquire('box'))
    provider.onResolve = () => {}
    await registry.close(end)
    expect(events).toEqual(['resolve b9', 'resolve b9', 'close b9', 'persist null'])
  })
})
