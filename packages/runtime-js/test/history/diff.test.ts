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

const side = (size: number) => ({ type: 'file', mode: 0o600, size })

test('shows both sides of what has changed, and its permission bits where there are any', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const steps = [write('/same', 'x\n'), write('/a', 'one\n'), write('/a', 'three\n'), say('end')]
  const harness = createHarness(steps, { workspaceProviders: [provider] })
  const run = await harness.executor.execute(agent, 'x', { sessionId: 's', keepWorkspaces: true })
  await run.result()
  const ids = (await harness.store.listCheckpoints('s')).items.toReversed().map(({ id }) => id)
  const own = (await harness.store.loadSession('s'))!.workspaceRefs['box']!
  const resolve = provider.resolve.bind(provider)
  provider.resolve = async (ref, options) => {
    const opened = await resolve(ref, options)
    const isNow = JSON.stringify(ref.ref) === JSON.stringify(own.ref)
    const readMode = async (path: string) => (path === '/same' && isNow ? 0o755 : 0o600)
    Object.assign(opened.ws.fs!, { attributes: { readMode } })
    return opened
  }
  const compare = (options: object = {}) =>
    harness.executor.diff(agent, 's', { from: ids[1]!, ...options })
  const [one] = await compare({ to: ids[2]! })
  expect(one?.changes).toEqual([
    {
      path: '/a',
      change: 'changed',
      from: side(4),
      to: side(6),
      diff: '--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-one\n+three',
    },
  ])
  const [now] = await harness.executor.diff(agent, 's', { from: ids[2]!, workspace: 'box' })
  expect(now?.changes).toEqual([
    { path: '/same', change: 'mode', from: side(2), to: { ...side(2), mode: 0o755 } },
  ])
  await expect(compare({ workspace: 'none' })).rejects.toThrow(
    'there is nothing to compare: no workspace named "none" has a history',
  )
  const plain = { ...agent, workspaces: {} }
  await expect(harness.executor.diff(plain, 's', { from: ids[0]! })).rejects.toThrow(
    'there is nothing to compare: no workspace has a history',
  )
})

test('needs no hold of a session that another process runs, unless its files of now are compared', async () => {
  const { harness, ids } = await played()
  const other = { sessionId: 's', runId: 'other', now: Date.now() }
  await harness.store.beginRun({ ...other, leaseMs: 60_000 })
  const [from, to] = [ids[0]!, ids[1]!]
  const [diff] = await harness.executor.diff(agent, 's', { from, to })
  expect(diff?.changes.map(({ path }) => path)).toEqual(['/b'])
  for (const options of [{ from }, { from, to: 'now' }, { from: 'now', to }]) {
    await expect(harness.executor.diff(agent, 's', options)).rejects.toMatchObject({
      code: 'already-running',
    })
  }
})
