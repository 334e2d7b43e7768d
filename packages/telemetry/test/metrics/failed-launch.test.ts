import { defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { createPrometheusMetrics } from '@helix-agents/telemetry/prometheus'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { boxes, say } from '../harness.ts'
import { parseExposition } from './parse-exposition.ts'

/** Gives the session a ref that nobody can read, and cannot store what the user says. */
class BrokenStore extends InMemoryStateStore {
  override async beginRun(...args: Parameters<InMemoryStateStore['beginRun']>) {
    const session = await super.beginRun(...args)
    return { ...session, workspaceRefs: { box: { nonsense: true } as never } }
  }

  override appendMessages(): Promise<never> {
    return Promise.reject(new Error('the disk is full'))
  }
}

test('a run that fails before it starts leaves no workspace in the gauge', async () => {
  const prometheus = createPrometheusMetrics()
  const executor = new JSAgentExecutor(
    new BrokenStore(),
    new InMemoryStreamManager(),
    new MockLLMAdapter([say('x')]),
    { workspaceProviders: [new InMemoryWorkspaceProvider()], metrics: prometheus.metrics },
  )
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'm' }, workspaces: boxes })
  await expect(executor.execute(agent, 'x')).rejects.toThrow('the disk is full')
  const { samples } = parseExposition(await prometheus.text())
  const states = samples.filter(({ name }) => name === 'helix_workspaces')
  expect(states.map(({ labels, value }) => [labels.state, value])).toEqual([
    ['failed', 0],
    ['closing', 0],
  ])
})
