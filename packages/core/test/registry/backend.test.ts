import { StateStoreError } from '@helix-agents/core'
import type { FileSystem, WorkspaceRef } from '@helix-agents/core/provider'
import type { Capabilities } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import { codeOf, ref, settle, setup } from './harness.ts'

describe('a backend that cannot be adopted', () => {
  test('a fresh one is closed when its ref cannot be stored, and the error surfaces', async () => {
    const broken = new StateStoreError('unavailable', 's1', 'no answer')
    const { registry, events, stateOf } = setup({
      deps: { persistRef: () => Promise.reject(broken) },
    })
    await expect(registry.acquire('box')).rejects.toBe(broken)
    expect(events).toEqual(['open', 'close b1'])
    expect(stateOf()).toMatchObject({ state: 'failed', lastErrorCode: 'unavailable' })
  })

  test('a missing module: named, and the fresh backend is closed', async () => {
    const capabilities = { fs: {}, snapshot: {} } as Capabilities
    const { registry, provider, events } = setup({ declaration: { capabilities } })
    provider.onOpen = () => ({ ref: ref('b1', { capabilities: { fs: true, snapshot: true } }) })
    const error = await registry.acquire('box').catch((each: unknown) => each)
    expect(error).toMatchObject({ code: 'capability-missing' })
    expect((error as Error).message).toMatch(/"box".*snapshot.*does not offer/)
    expect(events).toEqual(['open', 'close b1'])
  })

  test('a capability that the ref does not have: the resolved backend is detached', async () => {
    const { registry, provider, events } = setup({ refs: { box: ref('b9') }, stored: ['b9'] })
    provider.onResolve = () => ({ ref: ref('b9', { capabilities: {} }) })
    expect(await codeOf(registry.acquire('box'))).toBe('capability-missing')
    expect(events).toEqual(['resolve b9', 'detach b9'])
  })

  test('a provider that answers with the ref of another one is refused', async () => {
    const { registry, provider, events } = setup()
    provider.onOpen = () => ({ ref: ref('b1', { providerId: 'other' }) })
    expect(await codeOf(registry.acquire('box'))).toBe('ref-invalid')
    expect(events).toEqual(['open', 'close b1'])
  })

  test('a ref that changed while it lived is stored before the result counts, once', async () => {
    const { registry, provider, persisted, events } = setup()
    const later = ref('b1', { ref: { id: 'b1', snapshot: 's9' } })
    let changedRef: WorkspaceRef | undefined
    provider.onOpen = () => ({
      ws: {
        id: 'b1',
        isolation: 'process',
        fs: {} as FileSystem,
        get changedRef() {
          return changedRef
        },
        close: async () => {},
      },
    })
    const use = (): Promise<void> =>
      registry.use('box', async () => void (changedRef = later), { idempotent: true })
    await use()
    expect(persisted.get('box')).toEqual(later)
    await use()
    expect(events.filter((event) => event.startsWith('persist'))).toHaveLength(2)
  })

  test('how processes are held is shown where the workspace says it', async () => {
    const { registry } = setup()
    await registry.acquire('box')
    expect(registry.describe()[0]).not.toHaveProperty('containment')
    expect(registry.describe()[0]).not.toHaveProperty('maxProcesses')
    const held = setup()
    held.provider.onOpen = () => ({
      ws: {
        id: 'b1',
        isolation: 'none',
        containment: 'scan',
        maxProcesses: 512,
        fs: {} as FileSystem,
        close: async () => {},
      },
    })
    await held.registry.acquire('box')
    expect(held.registry.describe()[0]).toMatchObject({
      isolation: 'none',
      containment: 'scan',
      maxProcesses: 512,
    })
  })

  test('the error surfaces once the backend is released, so that a retry meets none', async () => {
    const { registry, provider } = setup()
    provider.onOpen = () => ({ ref: ref('b1', { capabilities: {} }) })
    const closing = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    provider.onClose = () => {
      closing.resolve()
      return closed.promise
    }
    let isOver = false
    const code = codeOf(registry.acquire('box')).finally(() => (isOver = true))
    await closing.promise
    await settle()
    expect(isOver).toBe(false)
    closed.resolve()
    expect(await code).toBe('capability-missing')
  })

  test('a release that fails or hangs does not hide the reason', async () => {
    const { registry, provider, clock, logger } = setup()
    provider.onOpen = () => ({ ref: ref('b1', { capabilities: {} }) })
    provider.onClose = () => new Promise(() => {})
    const code = codeOf(registry.acquire('box'))
    await clock.advance(30_000)
    expect(await code).toBe('capability-missing')
    expect(logger.with('workspace close failed')).toHaveLength(1)
  })
})
