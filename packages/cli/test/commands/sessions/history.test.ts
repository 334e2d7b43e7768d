import { defineAgent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { beforeEach, expect, it } from 'vitest'
import { type Ran, TestHost } from '../../test-host.ts'

const MODULE = import.meta.filename
const write = (id: string, content: string): MockStep => ({
  type: 'tool_calls',
  toolCalls: [{ id, name: 'workspace__repo__write_file', arguments: { path: '/add.js', content } }],
})

let host: TestHost
let closed: number
const stateStore = new InMemoryStateStore()
const agent = defineAgent({
  name: 'repairer',
  llmConfig: { model: 'mock' },
  workspaces: {
    repo: {
      provider: { kind: 'in-memory' },
      capabilities: { fs: true, snapshot: true },
      history: 'step',
    },
  },
})
const executor = new JSAgentExecutor(
  stateStore,
  new InMemoryStreamManager(),
  new MockLLMAdapter([
    write('1', 'a - b\n'),
    write('2', 'broken\n'),
    { type: 'text', content: 'Done.', shouldStop: true },
  ]),
  { workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]) },
)
const hosted = { executor, stateStore, agents: [agent], close: () => void (closed += 1) }

beforeEach(async () => {
  host = new TestHost()
  closed = 0
  host.module = { openExecutor: async () => hosted }
  if ((await stateStore.loadSession('s')) !== null) return
  await (
    await executor.execute(agent, 'Break it.', { sessionId: 's', keepWorkspaces: true })
  ).result()
})

const sessions = async (...args: readonly string[]): Promise<Ran> =>
  host.run(['sessions', ...args, '--host', MODULE])

it('shows what changed between two checkpoints, with the lines', async () => {
  const { code, out, err } = await sessions('diff', 's', '~2', '--patch')
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('CHANGE   PATH\nchanged  /add.js\n')
  expect(out).toContain('\n-a - b\n+broken\n')
  expect(closed).toBe(1)
  const { workspaces } = await host.json(['sessions', 'diff', 's', '~1', '--host', MODULE])
  expect(workspaces).toEqual([{ workspace: 'repo', changes: [], total: 0 }])
})

it('branches with the files of a checkpoint, then goes back with files', async () => {
  expect(await sessions('branch', 's', '--checkpoint', '~2', '--files', '--id', 'copy')).toEqual({
    code: 0,
    out: 'copy\n',
    err: '',
  })
  expect((await sessions('branch', 's', '--id', 'copy')).code).toBe(2)
  const [, , third] = (await stateStore.listCheckpoints('s')).items
  const { code, out, err } = await sessions('rewind', 's', '~2', '--files', 'repo')
  expect([code, out, err]).toEqual([
    0,
    `${third?.id}\n`,
    'the session is at this checkpoint; files went back too\n',
  ])
  expect((await sessions('diff', 's', '~0')).err).toBe('repo: no differences\n')
  const refs = [await stateStore.loadSession('s'), await stateStore.loadSession('copy')].map(
    (session) => JSON.stringify(session?.workspaceRefs.repo?.ref),
  )
  expect(new Set([undefined, ...refs]).size).toBe(3)
})

it('says what does not fit', async () => {
  expect(await sessions('rewind', 'unknown', '~1')).toMatchObject({ code: 3 })
  expect(await sessions('rewind', 's', '~99')).toMatchObject({ code: 3 })
  expect(await sessions('rewind', 's', 'nothing')).toMatchObject({ code: 3 })
  expect(await sessions('rewind', 's', '~0', '--files', 'other')).toMatchObject({
    code: 1,
    err: expect.stringContaining('(files-missing)'),
  })
  expect((await host.run(['sessions', 'rewind', 's', '~1'])).code).toBe(2)
  expect((await host.run(['sessions', 'diff', 's', '~1', '--host', '/nowhere.ts'])).code).toBe(3)
  host.module = { openExecutor: async () => ({ ...hosted, agents: [] }) }
  expect(await sessions('diff', 's', '~1')).toMatchObject({ code: 2 })
  host.module = { openExecutor: async () => ({}) }
  expect(await sessions('diff', 's', '~1')).toMatchObject({ code: 2 })
  host.module = {}
  expect(await sessions('diff', 's', '~1')).toMatchObject({ code: 2 })
})
