// How many workspaces of a session open at the same time: an option of the executor.
import { defineAgent } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import type { JSAgentExecutorOptions } from '@helix-agents/runtime-js'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { createHarness, say, settle } from './harness.ts'

const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { a: box, b: box, c: box, d: box },
})

/** The largest number of opens that were under way at once. */
async function mostOpens(options: JSAgentExecutorOptions): Promise<number> {
  const inner = new InMemoryWorkspaceProvider()
  let active = 0
  let most = 0
  const provider: WorkspaceProvider = {
    providerId: inner.providerId,
    capabilities: inner.capabilities,
    refSchemaVersion: inner.refSchemaVersion,
    open: async (config, session, opening) => {
      active += 1
      most = Math.max(most, active)
      await settle()
      active -= 1
      return inner.open(config as never, session, opening)
    },
    resolve: (ref, opening) => inner.resolve(ref, opening),
  }
  const { executor } = createHarness([say('done')], {
    workspaceProviders: [provider],
    workspaceOpenStrategy: 'eager',
    ...options,
  })
  const handle = await executor.execute(agent, 'x')
  expect((await handle.result()).status).toBe('completed')
  return most
}

test.each([1, 2, 3])('workspaceMaxConcurrentOpens %i holds for a session', async (limit) => {
  expect(await mostOpens({ workspaceMaxConcurrentOpens: limit })).toBe(limit)
})

test('the limit holds beside other settings of the registry', async () => {
  const tuned = { workspaceRegistry: { openTimeoutMs: 60_000 }, workspaceMaxConcurrentOpens: 2 }
  expect(await mostOpens(tuned)).toBe(2)
})

test('all open at once without a limit', async () => {
  expect(await mostOpens({})).toBe(4)
})

test('a limit that lets nothing through is refused', async () => {
  await expect(mostOpens({ workspaceMaxConcurrentOpens: 0 })).rejects.toMatchObject({
    code: 'config-invalid',
  })
})
