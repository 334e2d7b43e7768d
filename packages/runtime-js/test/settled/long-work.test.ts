// Work that outlasts its lease asks for it before it writes: what another process has by then is its own.
import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  type MockStep,
  StateStoreError,
} from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, gate, say, settle } from '../harness.ts'

const LEASE_MS = 3000
const provider = { kind: 'in-memory' } as const
const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  tools: [createSubAgentTool(child, z.object({}))],
  workspaces: { box: { provider, capabilities: { fs: true }, history: 'step' } },
})
const write = calls(['workspace__box__write_file', { path: '/a', content: 'x' }])

/** A session of two steps, in a store that another process takes it from while `outlast` passes. */
async function played(last: MockStep = say('end')) {
  const [clock, store] = [new ManualClock(Date.now()), new InMemoryStateStore()]
  const files = new InMemoryWorkspaceProvider()
  const options = { clock, store, workspaceProviders: [files], leaseMs: LEASE_MS }
  const { executor } = createHarness([write, last], options)
  await (await executor.execute(agent, 'x', { sessionId: 's' })).result()
  const renew = vi.spyOn(store, 'renewRun')
  const outlast = async (): Promise<void> => {
    renew.mockRejectedValue(new Error('no answer'))
    await clock.advance(LEASE_MS)
    renew.mockRejectedValue(new StateStoreError('conflict', 's', 'another one has it'))
  }
  const ids = (await store.listCheckpoints('s')).items.map(({ id }) => id)
  return { clock, store, files, executor, outlast, ids }
}
type Played = Awaited<ReturnType<typeof played>>

/** Lets the lease pass when a method answers. */
function slowly<T extends object>({ outlast }: Played, target: T, name: keyof T & string): void {
  const method = (Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>).bind(
    target,
  )
  Reflect.set(target, name, async (...given: unknown[]) => {
    Reflect.set(target, name, method)
    const result = await method(...given)
    await outlast()
    return result
  })
}

test.each<readonly [string, (parts: Played) => Promise<unknown>]>([
  [
    'goes back',
    (parts) => {
      slowly(parts, parts.files.history, 'restore')
      return parts.executor.restoreCheckpoint(agent, 's', parts.ids[0]!, { files: true })
    },
  ],
  [
    'moves',
    (parts) => {
      slowly(parts, parts.files, 'open')
      return parts.executor.moveWorkspace(agent, 's', 'box', { to: provider })
    },
  ],
  [
    'is removed',
    (parts) => {
      slowly(parts, parts.store, 'loadHistory')
      return parts.executor.deleteSession(agent, 's')
    },
  ],
])('a session that %s is left to who has it by then', async (_, operate) => {
  const parts = await played()
  await expect(operate(parts)).rejects.toMatchObject({ code: 'conflict' })
  expect(await parts.store.loadSession('s')).toMatchObject({ stepCount: 2 })
})

test('an abort that outlasts its lease ends no workspace', async () => {
  const parts = await played(() => Promise.reject(new Error('cut off')))
  slowly(parts, parts.store, 'loadMessages')
  const handle = await parts.executor.getHandle(agent, 's')
  await expect(handle!.abort()).rejects.toMatchObject({ code: 'conflict' })
  expect((await parts.files.history.list('s')).workspaces).toHaveLength(1)
})

test('a call at the end of a lease that is lost is not run', async () => {
  const [clock, store, hold] = [new ManualClock(), new InMemoryStateStore(), gate()]
  const ran: string[] = []
  const put = defineTool({
    name: 'put',
    description: '',
    inputSchema: z.object({}),
    execute: () => void ran.push('put'),
  })
  const renew = vi.spyOn(store, 'renewRun').mockRejectedValue(new Error('no answer'))
  const steps: MockStep[] = [() => hold.opened.then(() => calls(['put'])), say('done')]
  const { executor } = createHarness(steps, { clock, store, leaseMs: LEASE_MS })
  const handle = await executor.execute(agentWith(put), 'Go', { sessionId: 's' })
  await clock.advance(LEASE_MS)
  renew.mockImplementation(async () => {
    await settle()
    throw new StateStoreError('conflict', 's', 'another one has it')
  })
  hold.open()
  expect(await handle.result()).toMatchObject({ status: 'failed', error: { code: 'conflict' } })
  expect(ran).toEqual([])
})
