// Who keeps watch over workspaces hears of them through the executor.
import { defineAgent } from '@helix-agents/core'
import type { WorkspaceLifecycleListener } from '@helix-agents/core/runtime'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { calls, createHarness, say } from './harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const write = calls(['workspace__box__write_file', { path: '/a', content: 'x' }])

function run(lifecycle: WorkspaceLifecycleListener) {
  const { executor } = createHarness([write, say('end')], {
    lifecycle,
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  return executor.execute(agent, 'x', { sessionId: 's' }).then((handle) => handle.result())
}

test('a run tells of its workspaces, with its session', async () => {
  const heard: string[] = []
  const tell =
    (what: string) =>
    ({ session, workspaceId }: { session: { sessionId: string }; workspaceId?: string }): void =>
      void heard.push(`${what} ${session.sessionId} ${workspaceId?.slice(0, 6)}`)
  const { status } = await run({
    onOpen: tell('open'),
    onActivity: tell('activity'),
    onClose: tell('close'),
  })
  expect(status).toBe('completed')
  expect(heard).toEqual(['open s inmem-', 'activity s inmem-', 'close s inmem-'])
})

function broken(): never {
  throw new Error('the fleet is down')
}

test('a listener that throws fails no run', async () => {
  expect((await run({ onOpen: broken, onActivity: broken, onClose: broken })).status).toBe(
    'completed',
  )
})
