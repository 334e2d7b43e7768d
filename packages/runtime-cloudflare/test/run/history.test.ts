// Files that go back with the conversation, in a real Durable Object with its real SQLite.
import { defineAgent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { DOStateStore, DOStreamManager } from '@helix-agents/store-cloudflare'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { expect, test } from 'vitest'
import { say, use } from '../scripts.ts'
import { createSession, inObject } from '../session.ts'

const agent = defineAgent({
  name: 'tested',
  llmConfig: { model: 'scripted' },
  workspaces: {
    box: {
      provider: { kind: 'cloudflare-filestore' },
      capabilities: { fs: true },
      history: 'step',
    },
  },
})
const write = (content: string) => use('workspace__box__write_file', { path: '/a', content })
const read = use('workspace__box__read_file', { path: '/a' })

test('a session goes back with its files, branches with them, shows the difference, leaves nothing', async () => {
  const session = createSession({ brain: () => say('unused') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  await inObject(session, async ({ storage }) => {
    const provider = new CloudflareFileStoreWorkspaceProvider({ storage })
    const store = new DOStateStore(storage)
    const executor = (...steps: MockStep[]) =>
      new JSAgentExecutor(store, new DOStreamManager(storage), new MockLLMAdapter(steps), {
        workspaceProviders: [provider],
      })
    const first = executor(write('one'), write('two'), say('end'))
    await (await first.execute(agent, 'go', { sessionId: 's' })).result()
    const ids = (await store.listCheckpoints('s')).items.toReversed().map(({ id }) => id)
    const [diff] = await first.diff(agent, 's', { from: ids[0]! })
    expect(diff?.changes).toMatchObject([{ path: '/a', change: 'changed' }])
    expect(diff?.changes[0]?.diff).toContain('-one')
    await first.branch(agent, {
      fromSessionId: 's',
      sessionId: 'b',
      checkpointId: ids[0]!,
      files: 'checkpoint',
    })
    await first.restoreCheckpoint(agent, 's', ids[0]!, { files: true })
    for (const sessionId of ['s', 'b']) {
      await (await executor(read, say('seen')).execute(agent, 'look', { sessionId })).result()
      const { messages } = await store.loadMessages(sessionId)
      const result = messages.findLast(({ role }) => role === 'tool')
      expect(JSON.stringify(result?.content)).toContain('one')
    }
    for (const sessionId of ['s', 'b']) await first.deleteSession(agent, sessionId)
    const left = storage.sql.exec('SELECT kind FROM helix_fs_namespaces').toArray()
    expect(left).toEqual([])
  })
})
