import { describe, expect, test } from 'vitest'
import { codeOf, idempotent, once, ref, settle, setup } from './harness.ts'

describe('switchTo', () => {
  test('resolves and persists the new one, then swaps, then detaches the old', async () => {
    const { registry, provider, events, stateOf } = setup({ stored: ['fork'] })
    await registry.acquire('box')
    provider.resolveOutcome = { outcome: 'restored', detail: 'Snapshot 3.' }
    await registry.switchTo('box', ref('fork'))
    expect(events).toEqual(['open', 'persist b1', 'resolve fork', 'persist fork', 'detach b1'])
    await registry.use('box', async ({ live }) => expect(live.id).toBe('fork'), once)
    expect(stateOf()).toMatchObject({ state: 'open', receipt: { outcome: 'restored' } })
    expect(registry.takeNotice('box')).toContain('Snapshot 3.')
    expect(registry.takeNotice('box')).toBeUndefined()
    await registry.close({ mode: 'end' })
    expect(events.slice(5)).toEqual(['close fork', 'persist null'])
  })

  test.each<[string, Parameters<typeof setup>[0], unknown, string]>([
    ['a lost one', {}, ref('nowhere'), 'provider-failed'],
    ['a malformed ref', {}, { ref: 1 }, 'ref-invalid'],
    ['a ref of another provider', {}, ref('fork', { providerId: 'other' }), 'ref-invalid'],
  ])('%s leaves the old one in place', async (_, options, target, code) => {
    const { registry, events, persisted, stateOf } = setup({ ...options, stored: ['fork'] })
    await registry.acquire('box')
    expect(await codeOf(registry.switchTo('box', target as never))).toBe(code)
    expect(persisted.get('box')?.ref).toEqual({ id: 'b1' })
    expect(stateOf().state).toBe('open')
    expect(await registry.use('box', async ({ live }) => live.id, once)).toBe('b1')
    expect(events).not.toContain('detach b1')
  })

  test('one that misses a capability is detached again', async () => {
    const { registry, provider, events } = setup({ stored: ['fork'] })
    await registry.acquire('box')
    provider.onResolve = () => ({ ref: ref('fork', { capabilities: {} }) })
    expect(await codeOf(registry.switchTo('box', ref('fork')))).toBe('capability-missing')
    expect(events).toEqual(['open', 'persist b1', 'resolve fork', 'detach fork'])
  })

  test('one whose ref cannot be stored is detached again', async () => {
    let broken = false
    const { registry, events } = setup({
      stored: ['fork'],
      deps: {
        persistRef: async () => {
          if (broken) throw new Error('no store')
        },
      },
    })
    await registry.acquire('box')
    broken = true
    expect(await codeOf(registry.switchTo('box', ref('fork')))).toBe('provider-failed')
    expect(events).toEqual(['open', 'resolve fork', 'detach fork'])
    expect(await registry.use('box', async ({ live }) => live.id, once)).toBe('b1')
  })

  test('an old handle that does not let go does not undo the switch', async () => {
    const { registry, provider, clock, logger } = setup({ stored: ['fork'] })
    await registry.acquire('box')
    provider.onDetach = () => new Promise(() => {})
    const switching = registry.switchTo('box', ref('fork'))
    await clock.advance(30_000)
    await switching
    expect(logger.with('workspace close failed')).toHaveLength(1)
    expect(await registry.use('box', async ({ live }) => live.id, once)).toBe('fork')
  })

  test('works from a workspace that is not open yet, and uses wait for it', async () => {
    const { registry, provider, events } = setup({ stored: ['fork'] })
    const held = Promise.withResolvers<void>()
    provider.onResolve = () => held.promise
    const switching = registry.switchTo('box', ref('fork'))
    const use = registry.use('box', async ({ live }) => live.id, idempotent)
    await settle()
    held.resolve()
    await switching
    expect(await use).toBe('fork')
    expect(events).toEqual(['resolve fork', 'persist fork'])
  })

  test('after a failed switch of a workspace that was not open, a use opens it', async () => {
    const { registry, events } = setup()
    const switching = codeOf(registry.switchTo('box', ref('nowhere')))
    const use = registry.use('box', async ({ live }) => live.id, idempotent)
    expect(await switching).toBe('provider-failed')
    expect(await use).toBe('b1')
    expect(events).toEqual(['resolve nowhere', 'open', 'persist b1'])
  })

  test('several at once happen one after the other', async () => {
    const { registry, events } = setup({ stored: ['x', 'y'] })
    await registry.acquire('box')
    await Promise.all([registry.switchTo('box', ref('x')), registry.switchTo('box', ref('y'))])
    expect(events.slice(2)).toEqual([
      'resolve x',
      'persist x',
      'detach b1',
      'resolve y',
      'persist y',
      'detach x',
    ])
  })

  test('close during a switch takes over what it brings', async () => {
    const { registry, provider, events } = setup({ stored: ['fork'] })
    await registry.acquire('box')
    const held = Promise.withResolvers<void>()
    provider.onResolve = () => held.promise
    const code = codeOf(registry.switchTo('box', ref('fork')))
    await settle()
    const closing = registry.close({ mode: 'detach' })
    held.resolve()
    await closing
    expect(await code).toBe('closed')
    expect(events.slice(2)).toEqual(['resolve fork', 'persist fork', 'detach b1', 'detach fork'])
  })
})
