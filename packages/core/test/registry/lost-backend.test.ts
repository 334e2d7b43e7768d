import { WorkspaceFailedError } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import { FileVersions } from '../../src/modules/fs/versions/file-versions.ts'
import { codeOf, once, ref, setup } from './harness.ts'

describe('a backend that is gone for good', () => {
  test('is replaced by a fresh one, and the model is told once', async () => {
    const { registry, events, persisted, logger, stateOf } = setup({ refs: { box: ref('old') } })
    await registry.use('box', async () => void events.push('operation'), once)
    expect(events).toEqual(['resolve old', 'open', 'persist b1', 'operation'])
    expect(persisted.get('box')?.ref).toEqual({ id: 'b1' })
    expect(stateOf().receipt?.outcome).toBe('cold')
    expect(logger.with('workspace lost')).toHaveLength(1)
    expect(registry.takeNotice('box')).toContain('"box"')
    expect(registry.takeNotice('box')).toBeUndefined()
  })

  test('a retry of the fresh open does not resolve again', async () => {
    const { registry, provider, clock, events } = setup({ refs: { box: ref('old') } })
    let tries = 0
    provider.onOpen = () => {
      if (++tries === 1) throw new WorkspaceFailedError('provider-failed', 'x', { transient: true })
    }
    const use = registry.acquire('box')
    await clock.advance(20_000)
    await use
    expect(events).toEqual(['resolve old', 'open', 'open', 'persist b1'])
  })

  test('fails the entry with onLost fail, and nothing is overwritten', async () => {
    const { registry, events, stateOf } = setup({
      refs: { box: ref('old') },
      declaration: { onLost: 'fail' },
    })
    expect(await codeOf(registry.acquire('box'))).toBe('provider-failed')
    expect(await codeOf(registry.acquire('box'))).toBe('provider-failed')
    expect(events).toEqual(['resolve old'])
    expect(stateOf().state).toBe('failed')
  })

  test('a provider that restored from a backup gives that notice', async () => {
    const { registry, provider } = setup({ refs: { box: ref('b9') }, stored: ['b9'] })
    provider.resolveOutcome = { outcome: 'restored', detail: 'Backup of noon.' }
    await registry.acquire('box')
    expect(registry.takeNotice('box')).toContain('Backup of noon.')
  })

  test('ended by an earlier run, the files are gone as well', async () => {
    const ended = new FileVersions()
    ended.recordRead('tester', '/a', 'v1')
    const { registry, events, stateOf, logger } = setup({
      names: ['box', 'other', 'kept'],
      refs: { kept: ref('k') },
      stored: ['k'],
      deps: { usedBefore: (name) => name !== 'other', ledgers: { box: ended.snapshot() } },
    })
    await registry.openAll()
    expect(events).not.toContain('resolve box')
    expect(['box', 'other', 'kept'].map((name) => stateOf(name).receipt?.outcome)).toEqual([
      'cold',
      'created',
      'reattached',
    ])
    expect(registry.takeNotice('box')).toContain('gone')
    expect([registry.takeNotice('other'), registry.takeNotice('kept')]).toEqual([
      undefined,
      undefined,
    ])
    expect(registry.takeLedgerChanges()).toEqual({ box: new FileVersions().snapshot() })
    expect(logger.with('workspace lost')).toHaveLength(0)
  })

  test('of a branch, the files are with its source', async () => {
    const { registry, stateOf } = setup({ deps: { usedBefore: () => 'in-source' } })
    await registry.openAll()
    expect(stateOf('box').receipt?.outcome).toBe('cold')
    const notice = registry.takeNotice('box')
    expect(notice).toContain('branched from')
    expect(notice).not.toContain('gone')
    expect(registry.takeNotice('box')).toBeUndefined()
  })

  test('created and reattached give none', async () => {
    const { registry } = setup({ names: ['a', 'b'], refs: { b: ref('b9') }, stored: ['b9'] })
    await registry.openAll()
    expect([registry.takeNotice('a'), registry.takeNotice('b')]).toEqual([undefined, undefined])
  })
})

describe('a backend that is gone, of a workspace with a history', () => {
  const history = { on: 'step', keep: 4 } as const
  const restored = { ref: ref('new'), detail: 'Its files are those after step 3 of 4.' }

  test.each(['reopen', 'fail'] as const)('comes back with onLost %s', async (onLost) => {
    const { registry, events, persisted, logger, stateOf } = setup({
      refs: { box: ref('old') },
      stored: ['new'],
      declaration: { history, onLost },
      deps: { restoreLost: async () => restored },
    })
    await registry.use('box', async () => void events.push('operation'), once)
    expect(events).toEqual(['resolve old', 'resolve new', 'persist new', 'operation'])
    expect(persisted.get('box')?.ref).toEqual({ id: 'new' })
    expect(stateOf().receipt).toEqual({ outcome: 'restored', detail: restored.detail })
    expect(logger.with('workspace lost')).toHaveLength(1)
    expect(registry.takeNotice('box')).toContain(restored.detail)
    expect(registry.takeNotice('box')).toBeUndefined()
  })

  test('begins anew without a snapshot, and fails with onLost fail', async () => {
    for (const [onLost, outcome] of [
      ['reopen', 'cold'],
      ['fail', undefined],
    ] as const) {
      const { registry, stateOf } = setup({
        refs: { box: ref('old') },
        declaration: { history, onLost },
        deps: { restoreLost: async () => undefined },
      })
      await Promise.allSettled([registry.acquire('box')])
      expect(stateOf().receipt?.outcome).toBe(outcome)
    }
  })

  test('is tried again while its store does not answer, and not resolved again', async () => {
    let tries = 0
    const { registry, clock, events } = setup({
      refs: { box: ref('old') },
      stored: ['new'],
      declaration: { history },
      deps: {
        restoreLost: async () => {
          if (++tries > 1) return restored
          throw new WorkspaceFailedError('provider-failed', 'x', { transient: true })
        },
      },
    })
    const use = registry.acquire('box')
    await clock.advance(20_000)
    await use
    expect(events).toEqual(['resolve old', 'resolve new', 'persist new'])
  })

  test('one that cannot be stored is released', async () => {
    const { registry, provider, events } = setup({
      refs: { box: ref('old') },
      stored: ['new'],
      declaration: { history },
      deps: {
        restoreLost: async () => restored,
        persistRef: async () => {
          throw new Error('conflict')
        },
      },
    })
    await Promise.allSettled([registry.acquire('box')])
    expect(events).toContain('close new')
    expect(provider.resolveOutcome?.outcome).not.toBe('restored')
  })
})
