import { logMessages } from '@helix-agents/core/provider'
import type { WorkspaceLifecycleListener } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { codeOf, once, ref, settle, setup } from './harness.ts'

const session = { sessionId: 's1', agentType: 'tester' }
const base = { workspace: 'box', providerId: 'fake', session }

/** A listener that keeps what it hears. */
function recording() {
  const heard: (readonly [string, unknown])[] = []
  const listener: WorkspaceLifecycleListener = {
    onOpen: (event) => void heard.push(['open', event]),
    onActivity: (event) => void heard.push(['activity', event]),
    onClose: (event) => void heard.push(['close', event]),
    onOwed: (event) => void heard.push(['owed', event]),
  }
  return { heard, listener }
}

test('tells of the life of a workspace', async () => {
  const { heard, listener } = recording()
  const { registry } = setup({ deps: { lifecycle: listener } })
  await registry.use('box', async () => 'done', once)
  await registry.use('box', async () => ({ timedOut: true }), once)
  await codeOf(registry.use('box', () => Promise.reject(new Error('no')), once))
  await registry.close({ mode: 'end' })
  const known = { ...base, workspaceId: 'b1', ref: ref('b1') }
  expect(heard).toEqual([
    ['open', { ...known, receipt: { outcome: 'created' } }],
    ['activity', { ...known, succeeded: true, timedOut: false }],
    ['activity', { ...known, succeeded: true, timedOut: true }],
    ['activity', { ...known, succeeded: false, timedOut: false }],
    ['close', { ...known, mode: 'end' }],
  ])
})

test('tells of a detach, and of a switch as a detach and an open', async () => {
  const { heard, listener } = recording()
  const { registry } = setup({ stored: ['b7'], deps: { lifecycle: listener } })
  await registry.acquire('box')
  await registry.switchTo('box', ref('b7'))
  await registry.close({ mode: 'detach' })
  const told = heard.map(([what, event]) => [what, (event as { workspaceId: string }).workspaceId])
  expect(told).toEqual([
    ['open', 'b1'],
    ['open', 'b7'],
    ['close', 'b1'],
    ['close', 'b7'],
  ])
})

test('tells what is owed after a close that takes too long', async () => {
  const { heard, listener } = recording()
  const { registry, provider, clock } = setup({ deps: { lifecycle: listener } })
  provider.onClose = () => new Promise<void>(() => undefined)
  await registry.acquire('box')
  const closing = registry.close({ mode: 'end' })
  await settle()
  await clock.advance(30_000)
  await closing
  const owed = { ...base, workspaceId: 'b1', ref: ref('b1'), reason: 'timeout' }
  expect(heard.at(-1)).toEqual(['owed', owed])
})

function broken(): never {
  throw new Error('broken')
}

test('a listener that throws breaks nothing', async () => {
  const lifecycle = { onOpen: broken, onActivity: broken, onClose: broken, onOwed: broken }
  const { registry, logger } = setup({ deps: { lifecycle } })
  expect(await registry.use('box', async () => 'done', once)).toBe('done')
  expect(await registry.close({ mode: 'end' })).toEqual({ owed: [] })
  expect(logger.with(logMessages.lifecycleListenerFailed)).toHaveLength(3)
})
