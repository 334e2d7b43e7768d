// The limits of a history, to the character and to the millisecond.
import { defineAgent, defineTool } from '@helix-agents/core'
import { takeSnapshot } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { InMemoryFileSystem, InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, say } from '../harness.ts'

const MEBIBYTE = 1024 * 1024
const MAX_REDACTED = 32_768
type Files = Readonly<Record<string, string>>

const contents = { now: new Map<string, string>() }
const put = defineTool({
  name: 'put',
  description: '',
  inputSchema: z.object({}),
  execute: (_, { workspaces }) =>
    workspaces.use('box', async ({ live }) => {
      for (const [path, content] of contents.now) await live.fs!.writeFile(path, content)
    }),
})
const agentOf = (history: object | 'step' = 'step') =>
  defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [put],
    workspaces: {
      box: {
        provider: { kind: 'in-memory' },
        capabilities: { fs: { maxFileSizeMb: 8 } },
        history: history as 'step',
      },
    },
  })
const change = calls(['put'])

/** What a comparison says of the files that a second step has written. */
async function changed(before: Files, after: Files, options: object = {}) {
  contents.now = new Map(Object.entries(before))
  const second = () => ((contents.now = new Map(Object.entries(after))), change)
  const harness = createHarness([change, second, say('end')], {
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  await (await harness.executor.execute(agentOf(), 'x', { sessionId: 's' })).result()
  const [first] = (await harness.store.listCheckpoints('s')).items.toReversed()
  const [diff] = await harness.executor.diff(agentOf(), 's', { from: first!.id, ...options })
  return diff!
}

const added = (files: Files, options?: object) => changed({ '/first': 'x' }, files, options)

test('an added file is compared with nothing', async () => {
  const { changes, total } = await added({ '/a': 'one\n' })
  expect(total).toBe(1)
  expect(changes).toEqual([
    {
      path: '/a',
      change: 'added',
      to: { type: 'file', size: 4 },
      diff: '--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+one',
    },
  ])
})

test('a file of a mebibyte is compared, a larger one is too large', async () => {
  const { changes } = await added({
    '/a': 'x'.repeat(MEBIBYTE),
    '/b': 'x'.repeat(MEBIBYTE + 1),
  })
  expect(changes.map(({ omitted }) => omitted)).toEqual(['cut', 'too-large'])
})

const words = (length: number) => 'some words '.repeat(2000).slice(0, length)

test.each([
  [0, undefined],
  [1, 'cut'],
])('a diff with %d characters more than secrets are looked for in is %s', async (more, omitted) => {
  const old = words(16_000)
  const fixed = '--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-'.length + '\n+'.length
  const now = words(MAX_REDACTED - fixed - old.length + more)
  const { changes } = await changed({ '/a': `${old}\n` }, { '/a': `${now}\n` })
  expect(changes).toMatchObject([{ path: '/a', change: 'changed' }])
  expect(changes[0]).toHaveProperty('diff')
  expect(changes[0]?.omitted).toBe(omitted)
})

test('characters of diffs are counted over all paths, and the last one may use up all', async () => {
  const files = { '/a': 'one\n', '/b': 'two\n', '/c': 'three\n' }
  const whole = await added(files)
  const [a, b] = whole.changes.map(({ diff }) => diff!.length) as [number, number]
  const some = await added(files, { maxDiffCharacters: a + b })
  expect(some.changes.map(({ omitted }) => omitted)).toEqual([undefined, undefined, 'limit'])
  const less = await added(files, { maxDiffCharacters: a + b - 1 })
  expect(less.changes.map(({ omitted }) => omitted)).toEqual([undefined, 'cut', 'limit'])
  expect(less.changes[1]?.diff).toHaveLength(b - 1)
})

test('two hundred paths are listed when nobody asks for more', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 201 }, (_, index) => [`/f${String(index).padStart(3, '0')}`, 'x']),
  )
  const diff = await added(files)
  expect([diff.total, diff.changes.length]).toEqual([201, 200])
})

test.each([
  [1000, [undefined, undefined, undefined]],
  [1001, [undefined, undefined, 'evicted']],
])('a snapshot that is %d ms old when the next one is taken: %j', async (ms, missing) => {
  const clock = new ManualClock()
  const agent = agentOf({ on: 'step', maxAgeMs: 1000 })
  contents.now = new Map([['/a', '1']])
  const later = async () => {
    await clock.advance(ms)
    contents.now = new Map([['/a', '2']])
    return change
  }
  const options = { workspaceProviders: [new InMemoryWorkspaceProvider()], clock }
  const { executor, store } = createHarness([change, later, say('end')], options)
  await (await executor.execute(agent, 'x', { sessionId: 's' })).result()
  const { items } = await store.listCheckpoints('s')
  expect(items.map((one) => one.workspaceSnapshots!['box']!.missing)).toEqual(missing)
})

test.each([
  [0, 'All files are there.'],
  [1, 'Not kept: link of /0.'],
  [5, 'Not kept: link of /0, link of /1, link of /2, link of /3, link of /4.'],
  [7, 'Not kept: link of /0, link of /1, link of /2, link of /3, link of /4 and 2 more.'],
])('of %d things that a copy does not hold the model reads: %s', async (count, text) => {
  const fs = new InMemoryFileSystem()
  await fs.writeFile('/a', 'text')
  const store = new InMemorySnapshotStore()
  const identity = { workspace: 'box', workspaceId: 'box', providerId: 'x', scope: 's' }
  const session = { sessionId: 'away', agentType: 'a' }
  const { manifest } = await takeSnapshot(fs, store, { ...identity, session })
  const losses = Array.from({ length: count }, (_, index) => ({
    path: `/${index}`,
    kind: 'link' as never,
  }))
  const workspaceProviders = [new InMemoryWorkspaceProvider()]
  const harness = createHarness([calls(['workspace__box__ls', {}]), say('end')], {
    workspaceProviders,
  })
  const { executor } = harness
  const seed = { agentType: 'a', messages: [], customState: undefined }
  const box = { manifest, store, scope: 's', losses }
  const report = await executor.importSession(agentOf(), { sessionId: 's', seed, files: { box } })
  expect(report['box']?.losses).toEqual(losses)
  await (await executor.execute(agentOf(), 'look', { sessionId: 's' })).result()
  const { messages } = await harness.store.loadMessages('s')
  const told = JSON.stringify(messages.findLast(({ role }) => role === 'tool')?.content)
  expect(told).toContain(
    `Workspace \\"box\\" was copied from another session: processes of earlier messages are gone. ${text}`,
  )
})
