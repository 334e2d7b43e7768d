// Both runtimes have one default: a completed turn is not the end of its session.
import { type Agent, defineAgent, MockLLMAdapter } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { DOStateStore, DOStreamManager } from '@helix-agents/store-cloudflare'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { say } from '../scripts.ts'
import { createSession, inObject } from '../session.ts'

const write = {
  type: 'tool_calls',
  toolCalls: [
    { id: '1', name: 'workspace__box__write_file', arguments: { path: '/a', content: 'x' } },
  ],
} as const

const agent: Agent = defineAgent({
  name: 'tested',
  llmConfig: { model: 'scripted' },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})

const keptIn = async (storage: DurableObjectStorage, sessionId: string) =>
  Object.keys((await new DOStateStore(storage).loadSession(sessionId))?.workspaceRefs ?? {})

test('a server and an executor that are told nothing keep the workspaces of a completed turn', async () => {
  const session = createSession({
    brain: (messages) => (messages.length === 1 ? write : say('done')),
    agents: () => [agent],
  })
  await session.post('/start', { message: 'go' })
  expect(await session.ended()).toBe('completed')
  const kept = await inObject(session, async ({ storage }) => {
    const served = await keptIn(storage, session.id)
    const executor = new JSAgentExecutor(
      new DOStateStore(storage),
      new DOStreamManager(storage),
      new MockLLMAdapter([write, say('done')]),
      { workspaceProviders: [new InMemoryWorkspaceProvider()] },
    )
    await (await executor.execute(agent, 'go', { sessionId: 'plain' })).result()
    return [served, await keptIn(storage, 'plain')]
  })
  expect(kept).toEqual([['box'], ['box']])
})
