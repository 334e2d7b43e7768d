import { createOpenLimit } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import { codeOf, idempotent, once, ref, settle, setup } from './harness.ts'

describe('opening', () => {
  test('is lazy, shared by all callers, and persisted before the first operation', async () => {
    const { registry, events, stateOf } = setup()
    expect(stateOf().state).toBe('declared')
    const run = () => registry.use('box', async () => void events.push('operation'), once)
    const all = Array.from({ length: 10 }, run)
    expect(stateOf().state).toBe('opening')
    await Promise.all(all)
    expect(events.slice(0, 3)).toEqual(['open', 'persist b1', 'operation'])
    expect(events.filter((event) => event !== 'operation')).toHaveLength(2)
    expect(stateOf()).toMatchObject({ state: 'open', isolation: 'process', evictions: 0 })
  })

  test('a stored ref is resolved; the same ref is not written again', async () => {
    const { registry, events, metrics } = setup({ refs: { box: ref('b9') }, stored: ['b9'] })
    await registry.use('box', async ({ live }) => expect(live.id).toBe('b9'), idempotent)
    expect(events).toEqual(['resolve b9'])
    expect(metrics.calls('incOpen')).toEqual([
      [{ workspace: 'box', providerId: 'fake' }, 'reattached'],
    ])
  })

  test('a resolve that moves to another ref persists it first', async () => {
    const { registry, provider, events } = setup({ refs: { box: ref('b9') }, stored: ['b9'] })
    provider.onResolve = () => ({ ref: ref('b9', { schemaVersion: 2 }) })
    await registry.use('box', async () => void events.push('operation'), idempotent)
    expect(events).toEqual(['resolve b9', 'persist b9', 'operation'])
  })

  test('a caller that aborts leaves the open to the others', async () => {
    const { registry, provider } = setup()
    const held = Promise.withResolvers<void>()
    let opened: AbortSignal | undefined
    provider.onOpen = (signal) => {
      opened = signal
      return held.promise
    }
    const abort = new AbortController()
    const first = registry.use('box', async () => 'first', { ...once, signal: abort.signal })
    const second = registry.use('box', async () => 'second', once)
    await settle()
    abort.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    expect(opened?.aborted).toBe(false)
    held.resolve()
    expect(await second).toBe('second')
  })

  test('an open goes on when every caller has left', async () => {
    const { registry, provider, stateOf } = setup()
    const held = Promise.withResolvers<void>()
    provider.onOpen = () => held.promise
    const abort = new AbortController()
    const only = registry.acquire('box', { signal: abort.signal })
    await settle()
    abort.abort('left')
    await expect(only).rejects.toBe('left')
    held.resolve()
    await settle()
    expect(stateOf().state).toBe('open')
  })

  test('an aborted signal starts nothing', async () => {
    const { registry, events } = setup()
    const signal = AbortSignal.abort('never')
    await expect(registry.acquire('box', { signal })).rejects.toBe('never')
    await expect(registry.use('box', async () => 1, { ...once, signal })).rejects.toBe('never')
    expect(events).toEqual([])
  })

  test('openAll opens everything within the limit, in order', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const { registry, provider, stateOf } = setup({ names, deps: { maxConcurrentOpens: 2 } })
    let active = 0
    let most = 0
    provider.onOpen = async () => {
      most = Math.max(most, ++active)
      await settle()
      active--
    }
    await registry.openAll()
    expect(most).toBe(2)
    expect(names.map((name) => stateOf(name).state)).toEqual(names.map(() => 'open'))
  })

  test('one limit may serve several registries', async () => {
    const openLimit = createOpenLimit(1)
    const first = setup({ deps: { openLimit } })
    const second = setup({ deps: { openLimit } })
    const held = Promise.withResolvers<void>()
    first.provider.onOpen = () => held.promise
    const both = [first.registry.acquire('box'), second.registry.acquire('box')]
    await settle()
    expect(second.events).toEqual([])
    held.resolve()
    await Promise.all(both)
    expect(second.events).toEqual(['open', 'persist b1'])
  })

  test('openAll tells the first failure after all have settled', async () => {
    const { registry, stateOf } = setup({
      names: ['a', 'b'],
      refs: { a: { nonsense: true } },
    })
    expect(await codeOf(registry.openAll())).toBe('ref-invalid')
    expect(stateOf('b').state).toBe('open')
  })

  test('an unknown name is refused', async () => {
    const { registry } = setup()
    expect(await codeOf(registry.use('nope', async () => 1, once))).toBe('config-invalid')
    expect(registry.has('nope')).toBe(false)
    expect(registry.has('toString')).toBe(false)
    expect(() => registry.providerId('nope')).toThrow('nope')
    expect(registry.providerId('box')).toBe('fake')
  })
})
