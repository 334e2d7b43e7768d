// A stop reaches a run wherever it waits for code of others: here for what never answers.
import {
  type Agent,
  createSubAgentTool,
  defineAgent,
  defineTool,
  type MockStep,
  type Schema,
} from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, gate, say, settle, storedMessages, textOfResult } from './harness.ts'

const llmConfig = { model: {} }
const stuck = () => new Promise<never>(() => {})

/** A schema that asks somebody, who answers when the gate opens: never, without one. */
function slow(answered: Promise<void> = stuck()): Schema<{ a: string }> {
  return z.object({ a: z.string() }).refine(async () => {
    await answered
    return true
  })
}

const open: WorkspaceProvider['open'] = (_config, _session, { signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
const workspaceProviders: readonly WorkspaceProvider[] = [
  { providerId: 'slow', capabilities: { fs: true }, refSchemaVersion: 1, open, resolve: stuck },
]

interface Wait {
  readonly agent: (more: { maxDurationMs?: number }) => Agent
  readonly steps: readonly MockStep[]
}

const waits: Readonly<Record<string, Wait>> = {
  'the input schema of a tool': {
    agent: (more) => defineAgent({ name: 'a', llmConfig, tools: [toolWith(slow())], ...more }),
    steps: [calls(['tool', { a: 'x' }])],
  },
  'the input schema of a sub-agent': {
    agent: (more) => {
      const child = defineAgent({ name: 'child', llmConfig })
      const tools = [createSubAgentTool(child, slow())]
      return defineAgent({ name: 'a', llmConfig, tools, ...more })
    },
    steps: [calls(['subagent__child', { a: 'x' }])],
  },
  'the output schema behind __finish__': {
    agent: (more) => defineAgent({ name: 'a', llmConfig, outputSchema: slow(), ...more }),
    steps: [calls(['__finish__', { a: 'x' }])],
  },
  'the output schema of an output that the model gives by itself': {
    agent: (more) => defineAgent({ name: 'a', llmConfig, outputSchema: slow(), ...more }),
    steps: [{ type: 'structured_output', output: { a: 'x' } }],
  },
  'a workspace that is opened at the start': {
    agent: (more) => {
      const box = { provider: { kind: 'slow' }, capabilities: { fs: true } }
      return defineAgent({ name: 'a', llmConfig, workspaces: { box }, ...more })
    },
    steps: [],
  },
}

function toolWith(inputSchema: Schema<{ a: string }>, ran: string[] = [], timeoutMs?: number) {
  return defineTool({
    name: 'tool',
    description: '',
    inputSchema,
    ...(timeoutMs !== undefined && { timeoutMs }),
    execute: ({ a }) => {
      ran.push(a)
      return 'done'
    },
  })
}

function harnessOf({ steps }: Pick<Wait, 'steps'>, clock = new ManualClock()) {
  const options = { clock, workspaceProviders, workspaceOpenStrategy: 'eager' } as const
  return createHarness(steps, options)
}

describe.each(Object.entries(waits))('a run that waits for %s', (_name, wait) => {
  test('is aborted', async () => {
    const { executor, store } = harnessOf(wait)
    const handle = await executor.execute(wait.agent({}), 'x', { sessionId: 's' })
    await settle()
    await handle.abort()
    expect(await handle.result()).toMatchObject({ status: 'aborted' })
    expect(await store.loadSession('s')).toMatchObject({ status: 'aborted' })
  })

  test('ends when its time is up', async () => {
    const clock = new ManualClock()
    const { executor } = harnessOf(wait, clock)
    const agent = wait.agent({ maxDurationMs: 1_000 })
    const handle = await executor.execute(agent, 'x', { sessionId: 's' })
    await settle()
    await clock.advance(1_000)
    expect(await handle.result()).toMatchObject({
      status: 'failed',
      error: { code: 'max-duration' },
    })
  })

  test('is paused by a shutdown', async () => {
    const clock = new ManualClock()
    const { executor, store } = harnessOf(wait, clock)
    const handle = await executor.execute(wait.agent({}), 'x', { sessionId: 's' })
    await settle()
    const down = executor.shutdown({ timeoutMs: 0 })
    await clock.advance(0)
    await down
    expect(await handle.result()).toMatchObject({ status: 'interrupted' })
    expect(await store.loadSession('s')).toMatchObject({ error: { code: 'shutdown' } })
  })
})

test('the time of a tool counts from when its arguments are checked', async () => {
  const clock = new ManualClock()
  const ran: string[] = []
  const answered = gate()
  const tools = [toolWith(slow(answered.opened), ran, 1_000)]
  const agent = defineAgent({ name: 'a', llmConfig, tools })
  const harness = harnessOf({ steps: [calls(['tool', { a: 'x' }]), say('ok')] }, clock)
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await settle()
  await clock.advance(1_000)
  expect(await handle.result()).toMatchObject({ status: 'completed', output: 'ok' })
  const result = (await storedMessages(harness)).find(({ role }) => role === 'tool')
  expect(textOfResult(result)).toContain('tool-timeout')
  // What is answered too late runs nothing.
  answered.open()
  await settle()
  expect(ran).toEqual([])
})
