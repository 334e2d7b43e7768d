import { env } from 'cloudflare:workers'
import { defineAgent } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type { CollectingProvider } from '@helix-agents/runtime-cloudflare'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import { createGate, say } from '../scripts.ts'
import { crash, createSession, inObject, untilAtRest } from '../session.ts'

const quick = { agent: 'quick', namespace: env.QUICK }

test('after an eviction a session opens its workspaces a few at a time', async () => {
  const gates = [createGate(), createGate()]
  let instances = 0
  let open = 0
  let most = 0
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    most = Math.max(most, ++open)
    await new Promise((resolve) => setTimeout(resolve, 2))
    return work().finally(() => open--)
  }
  const slow = (): WorkspaceProvider => {
    const memory = new InMemoryWorkspaceProvider()
    return {
      providerId: 'slow',
      capabilities: memory.capabilities,
      refSchemaVersion: 1,
      open: (_, session, options) =>
        counted(async () => {
          const opened = await memory.open({ kind: 'in-memory' }, session, options)
          return { ...opened, ref: { ...opened.ref, providerId: 'slow' } }
        }),
      resolve: (ref, options) =>
        counted(() => memory.resolve({ ...ref, providerId: 'in-memory' }, options)),
    }
  }
  const box = { provider: { kind: 'slow' }, capabilities: { fs: true } } as const
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const agent = defineAgent({
    name: 'quick',
    llmConfig: { model: 'scripted' },
    workspaces: Object.fromEntries(names.map((name) => [name, box])),
  })
  const session = createSession(
    {
      brain: async () => {
        await gates[instances - 1]?.pass()
        return say('done')
      },
      agents: () => [agent],
      providers: () => {
        instances++
        return [slow()]
      },
    },
    quick,
  )
  await session.post('/start', { message: 'go' })
  await gates[0]!.begun
  expect(most).toBe(2)
  most = 0
  await crash()
  await session.get('/state')
  await gates[1]!.begun
  expect(most).toBe(2)
  gates[1]!.open()
  expect(await session.ended()).toBe('completed')
  expect(instances).toBe(2)
})

test('a provider collects by the alarm of the object, also in its next instance', async () => {
  const collected: number[] = []
  const collecting = (storage: DurableObjectStorage): WorkspaceProvider & CollectingProvider => {
    const memory = new InMemoryWorkspaceProvider()
    return {
      providerId: 'collecting',
      capabilities: {},
      refSchemaVersion: 1,
      open: (_, session, options) => memory.open({ kind: 'in-memory' }, session, options),
      resolve: (ref, options) => memory.resolve(ref, options),
      nextCollectionAt: () => storage.kv.get<number>('due'),
      collect: (now) => {
        collected.push(now)
        storage.kv.delete('due')
      },
    }
  }
  const providers = (storage: DurableObjectStorage) => [collecting(storage)]
  const session = createSession({ brain: () => say('done'), providers }, quick)
  await session.get('/state')
  const due = Date.now() + 3_600_000
  await inObject(session, ({ storage }) => storage.kv.put('due', due))
  await session.post('/start', { message: 'go' })
  await session.ended()
  await vi.waitFor(
    async () => {
      const alarm = await inObject(session, ({ storage }) => storage.getAlarm())
      expect(alarm).toBe(due)
    },
    { timeout: 60_000 },
  )
  await crash()
  await session.get('/state')
  expect(collected).toEqual([])
  const now = Date.now()
  await inObject(session, async ({ storage }) => {
    storage.kv.put('due', now)
    await storage.setAlarm(now)
  })
  await vi.waitFor(() => expect(collected).toHaveLength(1), { timeout: 60_000 })
  expect(collected[0]).toBeGreaterThanOrEqual(now)
  await untilAtRest(session)
})
