// A ref is stored when it is new, by the workspace that is in use, and only then.
import { WorkspaceEvictedError } from '@helix-agents/core'
import type { FileSystem, Workspace } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import { idempotent, ref, settle, setup } from './harness.ts'

/** A workspace whose ref changes to a later one of the same backend. */
function changingWorkspace() {
  const later = ref('b1', { ref: { id: 'b1', snapshot: 's9' } })
  const state = { isChanged: false }
  const ws: Workspace = {
    id: 'b1',
    isolation: 'process',
    fs: {} as FileSystem,
    get changedRef() {
      return state.isChanged ? later : undefined
    },
    close: async () => {},
  }
  return { ws, state, later }
}

describe('a ref', () => {
  test('that was resolved to the same one is not stored again', async () => {
    const { registry, events, persisted } = setup({ refs: { box: ref('b9') }, stored: ['b9'] })
    await registry.acquire('box')
    await registry.use('box', async () => {}, idempotent)
    expect(events).toEqual(['resolve b9'])
    expect(persisted.size).toBe(0)
  })

  test('that was resolved to another one is stored before it is used', async () => {
    const { registry, provider, events } = setup({ refs: { box: ref('b9') }, stored: ['b9'] })
    const moved = ref('b9', { ref: { id: 'b9', generation: 2 } })
    provider.onResolve = () => ({ ref: moved })
    await registry.use('box', async () => void events.push('used'), idempotent)
    expect(events).toEqual(['resolve b9', 'persist b9', 'used'])
  })

  test('that is announced as changed and is the same is not stored', async () => {
    const { registry, provider, events } = setup()
    const { ws } = changingWorkspace()
    const same = { ...ws, changedRef: ref('b1') }
    provider.onOpen = () => ({ ws: same })
    await registry.use('box', async () => {}, idempotent)
    expect(events).toEqual(['open', 'persist b1'])
  })

  test('that changed in a workspace that was replaced since is not stored', async () => {
    const { registry, provider, persisted } = setup()
    const { ws, state, later } = changingWorkspace()
    provider.onOpen = () => ({ ws })
    const held = Promise.withResolvers<void>()
    const late = registry.use('box', () => held.promise, idempotent)
    await settle()
    const seen: unknown[] = []
    const evicted = async ({ live }: { readonly live: Workspace }): Promise<void> => {
      seen.push(live)
      if (live === ws) throw new WorkspaceEvictedError('gone')
    }
    await registry.use('box', evicted, idempotent)
    expect(seen).toHaveLength(2)
    state.isChanged = true
    held.resolve()
    await late
    expect(persisted.get('box')).toEqual(ref('b1'))
    expect(persisted.get('box')).not.toEqual(later)
  })

  test('of another provider is refused also when it changes later', async () => {
    const { registry, provider, persisted } = setup()
    const { ws } = changingWorkspace()
    provider.onOpen = () => ({ ws: { ...ws, changedRef: ref('b1', { providerId: 'other' }) } })
    const use = registry.use('box', async () => {}, idempotent)
    await expect(use).rejects.toMatchObject({ code: 'ref-invalid' })
    expect(persisted.get('box')).toEqual(ref('b1'))
  })
})
