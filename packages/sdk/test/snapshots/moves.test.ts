// A workspace of each provider moves into each other one, and its session goes on there.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { JSAgentExecutor, type MoveReport } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { afterEach, expect, test } from 'vitest'

const roots: string[] = []
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true })
})

/** Tests of other packages have it; their types are those of workerd. */
async function providerOf(module: string): Promise<() => WorkspaceProvider> {
  const { href } = new URL(`../../../${module}`, import.meta.url)
  const { createNodeProvider } = (await import(/* @vite-ignore */ href)) as {
    readonly createNodeProvider: () => WorkspaceProvider
  }
  return createNodeProvider
}

const createFileStore = await providerOf('workspace-cloudflare-filestore/test/node-provider.ts')
const createSandbox = await providerOf('workspace-cloudflare-sandbox/test/double/node-provider.ts')

function createProviders(): readonly WorkspaceProvider[] {
  const root = mkdtempSync(join(tmpdir(), 'helix-moves-'))
  roots.push(root)
  const local = new LocalBashWorkspaceProvider({ tmpdirRoot: root })
  return [new InMemoryWorkspaceProvider(), local, createFileStore(), createSandbox()]
}

const kinds = ['in-memory', 'local-bash', 'cloudflare-filestore', 'cloudflare-sandbox']
const pairs = kinds.flatMap((from) => kinds.map((to) => [from, to] as const))
/** The only one with modes in its files. */
const onHost = 'local-bash'
const allModes = ['mode /d', 'mode /d/a', 'mode /empty']
const lossesOf = ({ losses }: MoveReport) => losses.map(({ kind, path }) => `${kind} ${path}`)
const box = 'workspace__box__'
const call = (tool: string, given: object): MockStep => ({
  type: 'tool_calls',
  toolCalls: [{ id: 'a', name: `${box}${tool}`, arguments: given }],
})
const end: MockStep = { type: 'text', content: 'Done.', shouldStop: true }

test.each(pairs)('from %s to %s and back', { timeout: 120_000 }, async (from, to) => {
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    workspaces: { box: { provider: { kind: from }, capabilities: { fs: true } } },
  })
  const [store, streams] = [new InMemoryStateStore(), new InMemoryStreamManager()]
  const workspaceProviders = createProviders()
  const executorOf = (...steps: MockStep[]) =>
    new JSAgentExecutor(store, streams, new MockLLMAdapter(steps), { workspaceProviders })
  const run = async (...steps: MockStep[]): Promise<string> => {
    const executor = executorOf(...steps, end)
    await (await executor.execute(agent, 'go', { sessionId: 's', keepWorkspaces: true })).result()
    const { messages } = await store.loadMessages('s')
    return JSON.stringify(messages.findLast(({ role }) => role === 'tool')?.content)
  }
  await run(call('write_file', { path: '/d/a', content: 'one' }), call('mkdir', { path: '/empty' }))
  const there = await executorOf().moveWorkspace(agent, 's', 'box', { to: { kind: to } })
  expect(there).toMatchObject({ files: 1, bytes: 3 })
  expect(lossesOf(there)).toEqual(from === onHost && to !== onHost ? allModes : [])
  await run(
    call('read_file', { path: '/d/a' }),
    call('write_file', { path: '/d/a', content: 'two' }),
  )
  const back = await executorOf().moveWorkspace(agent, 's', 'box', { to: { kind: from } })
  expect(back).toMatchObject({ files: 1, bytes: 3 })
  expect(lossesOf(back)).toEqual(to === onHost && from !== onHost ? allModes : [])
  expect(back.digest).not.toBe(there.digest)
  expect(await run(call('read_file', { path: '/d/a' }))).toContain('two')
  const { box: ref } = (await store.loadSession('s'))?.workspaceRefs ?? {}
  expect(ref?.providerId).toBe(from)
  await executorOf().deleteSession(agent, 's')
})
