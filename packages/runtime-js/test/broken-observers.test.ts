// Who watches a run must not be able to break it: a logger, metrics or a tracer that throws.
import { defineAgent, type Logger, noopLogger } from '@helix-agents/core'
import { noopMetrics } from '@helix-agents/core/runtime'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import { calls, createHarness, say } from './harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const write = calls(['workspace__box__write_file', { path: '/a', content: 'x' }], ['nothing'])

const broken = () => Promise.reject(new Error('down'))

function explode(): never {
  throw new Error('watcher is broken')
}

function throwing<T extends object>(methods: T): T {
  return Object.fromEntries(Object.keys(methods).map((name) => [name, explode])) as T
}

describe.each([
  ['logger', { logger: throwing<Logger>(noopLogger) }],
  ['metrics', { metrics: throwing(noopMetrics) }],
] as const)('a broken %s', (_, options) => {
  test('does not disturb a run, nor its end', async () => {
    const provider = new InMemoryWorkspaceProvider()
    const harness = createHarness([write, say('done')], {
      workspaceProviders: [provider],
      ...options,
    })
    const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
    expect(await handle.result()).toMatchObject({ status: 'completed', output: 'done' })
    const { messages } = await harness.store.loadMessages('s')
    const results = messages.filter((message) => message.role === 'tool')
    expect(results.map(({ isError = false }) => isError)).toEqual([false, true])
    const head = await harness.store.loadSession('s')
    expect(head).toMatchObject({ status: 'completed', workspaceRefs: {} })
    expect(head?.leaseUntil).toBeUndefined()
  })

  test('does not disturb a run that fails', async () => {
    const harness = createHarness([broken], {
      workspaceProviders: [new InMemoryWorkspaceProvider()],
      ...options,
    })
    const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
    expect(await handle.result()).toMatchObject({ status: 'failed' })
    expect((await harness.store.loadSession('s'))?.status).toBe('failed')
  })
})
