// Executors whose store, streams and provider take a few turns for every call.
import { createSubAgentTool, defineAgent, defineTool, type MockStep } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import type { AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import * as z from 'zod'
import { calls, createHarness, say, settle } from '../harness.ts'
import { PendingCalls } from './pending-calls.ts'

export const provider = { kind: 'in-memory' } as const
const box = { provider, capabilities: { fs: true, snapshot: true } } as const
const tool = (name: string, options: object = {}) =>
  defineTool({
    name,
    description: '',
    inputSchema: z.object({}),
    execute: () => 'done',
    ...options,
  })
const child = defineAgent({ name: 'child', llmConfig: { model: {} }, workspaces: { own: box } })
export const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { ...box, history: { on: 'step', keep: 2 } } },
  tools: [
    createSubAgentTool(child, z.object({})),
    tool('gated', { needsApproval: true }),
    tool('plain'),
  ],
})
export const write = (content: string) =>
  calls(['workspace__box__write_file', { path: '/a', content }])
export const inChild = calls(['workspace__own__write_file', { path: '/a', content: 'x' }])
/** A step of a sub-agent, and those of its own. */
export const subAgent = [calls(['subagent__child']), inChild, say('child')]

export function world() {
  const pending = new PendingCalls()
  const store = new InMemoryStateStore()
  const streams = new InMemoryStreamManager()
  const files = new InMemoryWorkspaceProvider()
  const clock = new ManualClock(Date.now())
  const executorOf = (steps: readonly MockStep[], options: object = {}): JSAgentExecutor =>
    createHarness(steps, {
      store: pending.wrap(store, 'store'),
      streams: pending.wrap(streams, 'streams'),
      workspaceProviders: [pending.wrap(files, 'provider')],
      clock,
      ...options,
    }).executor
  return { pending, store, streams, files, clock, executorOf }
}

/** A session that has run its steps; `interrupt` is for one of them. */
export async function played(
  stepsOf: (interrupt: () => void) => readonly MockStep[] = () => [
    write('1'),
    ...subAgent,
    write('2'),
    write('3'),
    say('end'),
  ],
) {
  const parts = world()
  const live: { handle?: AgentHandle } = {}
  const executor = parts.executorOf(stepsOf(() => void live.handle?.interrupt()))
  const handle = await executor.execute(agent, 'x', { sessionId: 's', keepWorkspaces: true })
  live.handle = handle
  const { status } = await handle.result()
  await settle()
  parts.pending.overlaps.length = 0
  const ids = (await parts.store.listCheckpoints('s')).items.map(({ id }) => id)
  return { ...parts, executor, ids, status }
}

export type Played = Awaited<ReturnType<typeof played>>

/** How the work has ended, what was under way then, and what had overlapped. */
export async function endOf({ pending }: Pick<Played, 'pending'>, work: () => Promise<unknown>) {
  const end = await work().then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  )
  return { end, pending: pending.names, overlaps: pending.overlaps }
}

export const clean = { end: 'done', pending: [], overlaps: [] }
