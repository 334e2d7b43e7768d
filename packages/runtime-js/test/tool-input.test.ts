// The habits of real models: what they mean is plain, so it is not worth a step.
import { defineAgent, defineTool } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, say, storedMessages, textOfResult } from './harness.ts'

const workspaceProviders = new Map<string, WorkspaceProvider>([
  ['in-memory', new InMemoryWorkspaceProvider()],
])
const order = defineTool({
  name: 'order',
  description: '',
  inputSchema: z.object({ count: z.number(), note: z.string().optional() }),
  execute: ({ count, note }) => `${typeof count} ${note ?? 'no note'}`,
})
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  tools: [order],
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})

const box = (tool: string): string => `workspace__box__${tool}`

test.each<[string, unknown, string]>([
  [box('read_file'), { path: './src/a.ts', offset: null, limit: null }, 'lines 1-2 of 2'],
  [box('read_file'), { path: 'src/a.ts', offset: '2', limit: '1' }, 'lines 2-2 of 2'],
  [box('read_file'), { path: 'src/a.ts', offset: 0, limit: 1 }, 'lines 1-1 of 2'],
  [box('ls'), { offset: 0 }, '/: 1 entries'],
  [box('read_file'), '{"path":"src/a.ts"}', 'lines 1-2 of 2'],
  [box('ls'), {}, '/: 1 entries'],
  [box('ls'), undefined, '/: 1 entries'],
  [box('ls'), '', '/: 1 entries'],
  [box('ls'), { path: '' }, '/: 1 entries'],
  [box('ls'), { path: null }, '/: 1 entries'],
  [box('glob'), { pattern: '**/*.ts', path: '' }, '/src/a.ts'],
  [box('grep'), { pattern: 'one', opts: null }, '1→one'],
  [box('grep'), { pattern: 'one', opts: { path: '', ignoreCase: null } }, '1→one'],
  [box('grep'), { pattern: 'one', opts: '{"path":"src"}' }, '1→one'],
  [
    box('edit_file'),
    { path: 'src/a.ts', oldText: 'one', newText: '1', replaceAll: 'false' },
    'edited /src/a.ts',
  ],
  ['order', { count: '3', note: null }, 'number no note'],
])('%s(%j)', async (name, args, expected) => {
  const harness = createHarness(
    [
      calls([box('write_file'), { path: 'src/a.ts', content: 'one\ntwo\n' }]),
      calls([name, args]),
      say('ok'),
    ],
    { workspaceProviders },
  )
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const result = (await storedMessages(harness)).findLast((message) => message.role === 'tool')
  expect(textOfResult(result)).toContain(expected)
  expect(result?.isError).toBeUndefined()
})

test('a model that puts a field beside opts is told where it belongs', async () => {
  const harness = createHarness(
    [calls([box('grep'), { pattern: 'a', maxResults: 3 }]), say('ok')],
    {
      workspaceProviders,
    },
  )
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const result = (await storedMessages(harness)).find(({ role }) => role === 'tool')
  expect(textOfResult(result)).toContain('Hint: Give maxResults as opts.maxResults.')
})
