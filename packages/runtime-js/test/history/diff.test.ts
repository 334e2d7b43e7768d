import { defineAgent, defineTool, type Tool } from '@helix-agents/core'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, gate, say } from '../harness.ts'

const write = (path: string, content: string) =>
  calls(['workspace__box__write_file', { path, content }])
const binary = defineTool({
  name: 'binary',
  description: '',
  inputSchema: z.object({}),
  execute: (_, { workspaces }) =>
    workspaces.use('box', ({ live }) =>
      live.fs!.writeFile('/image', Uint8Array.of(0, 1, 2)).then(() => live.fs!.rm('/a')),
    ),
})
const agentWith = (tool: Tool) =>
  defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [tool],
    workspaces: {
      box: { provider: { kind: 'in-memory' }, capabilities: { fs: true }, history: 'step' },
    },
  })
const agent = agentWith(binary)

async function played() {
  const files = new InMemoryWorkspaceProvider()
  const secret = 'token=sk-abcdefghijklmnopqrstuvwxyz123456\n'
  const steps = [write('/a', 'one\n'), write('/b', secret), calls(['binary']), say('end')]
  const harness = createHarness(steps, { workspaceProviders: [files] })
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const ids = (await harness.store.listCheckpoints('s')).items.toReversed().map(({ id }) => id)
  return { harness, files, ids }
}

test('lists what was added, changed and removed, with diffs that hide secrets', async () => {
  const { harness, files, ids } = await played()
  const [diff] = await harness.executor.diff(agent, 's', { from: ids[0]! })
  expect(diff).toMatchObject({ workspace: 'box', total: 3 })
  expect(diff!.changes.map(({ path, change, omitted }) => [path, change, omitted])).toEqual([
    ['/a', 'removed', undefined],
    ['/b', 'added', undefined],
    ['/image', 'added', 'binary'],
  ])
  expect(diff!.changes[0]!.diff).toContain('--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one')
  expect(diff!.changes[1]!.diff).toContain('+token=')
  expect(JSON.stringify(diff)).not.toContain('sk-abc')
  // What was made for it is gone.
  expect((await files.history.list('s')).workspaces).toHaveLength(1)
  const between = await harness.executor.diff(agent, 's', { from: ids[1]!, to: ids[0]! })
  expect(between[0]!.changes.map(({ path, change }) => [path, change])).toEqual([['/b', 'removed']])
  expect(await harness.executor.diff(agent, 's', { from: ids[2]! })).toMatchObject([{ total: 0 }])
})

test('is bounded in paths and in characters', async () => {
  const { harness, ids } = await played()
  const few = await harness.executor.diff(agent, 's', { from: ids[0]!, maxChanges: 1 })
  expect(few[0]).toMatchObject({ total: 3, changes: [{ path: '/a' }] })
  const short = await harness.executor.diff(agent, 's', { from: ids[0]!, maxDiffCharacters: 10 })
  expect(short[0]!.changes.map(({ omitted }) => omitted)).toEqual(['cut', 'limit', 'limit'])
})

test('names what cannot be compared', async () => {
  const { harness, ids } = await played()
  const { executor } = harness
  await expect(executor.diff(agent, 's', { from: 'nothing' })).rejects.toMatchObject({
    code: 'not-resumable',
  })
  await expect(
    executor.diff(agent, 's', { from: ids[0]!, workspace: 'other' }),
  ).rejects.toMatchObject({ code: 'files-missing' })
})

test('works while the session runs', async () => {
  const { harness, ids } = await played()
  const [started, ended] = [gate(), gate()]
  const slow = defineTool({
    name: 'slow',
    description: '',
    inputSchema: z.object({}),
    execute: async () => {
      started.open()
      await ended.opened
    },
  })
  const waiting = agentWith(slow)
  const next = harness.next([write('/c', 'live'), calls(['slow']), say('end')])
  const handle = await next.executor.execute(waiting, 'go', { sessionId: 's' })
  await started.opened
  const [diff] = await next.executor.diff(waiting, 's', { from: ids[2]! })
  expect(diff!.changes.map(({ path }) => path)).toEqual(['/c'])
  ended.open()
  await handle.result()
})
