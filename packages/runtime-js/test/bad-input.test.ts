// What bad input gets: the rows of the product contract that the runtime answers for.
import { defineAgent, defineTool } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, say, textOfResult } from './harness.ts'

const provider = new InMemoryWorkspaceProvider()
const workspaceProviders = new Map<string, WorkspaceProvider>([['in-memory', provider]])

function agentWith(fs: boolean | object = true) {
  return defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [
      defineTool({
        name: 'order',
        description: '',
        inputSchema: z.object({ item: z.object({ sku: z.string() }), count: z.number() }),
        execute: () => 'ordered',
      }),
    ],
    workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs } } },
  })
}

/** The text of the one tool result of a run that goes on afterwards. */
async function textOf(name: string, args: unknown, fs?: object): Promise<string> {
  const harness = createHarness([calls([name, args]), say('went on')], { workspaceProviders })
  const handle = await harness.executor.execute(agentWith(fs), 'x', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'completed', output: 'went on' })
  const { messages } = await harness.store.loadMessages('s')
  const result = messages.find((message) => message.role === 'tool')
  expect(result?.isError).toBe(true)
  return textOfResult(result)
}

const write = 'workspace__box__write_file'
const read = 'workspace__box__read_file'

describe('malformed arguments', () => {
  test('name every failing field', async () => {
    const text = await textOf('order', { item: { sku: 5 } })
    expect(text).toContain('[invalid-input]')
    expect(text).toContain('item.sku')
    expect(text).toContain('count')
  })

  test.each([undefined, null, 'text', 7, []])('%j instead of an object', async (args) => {
    expect(await textOf('order', args)).toContain('[invalid-input]')
  })

  test('a tool without the prefix of its workspace', async () => {
    const text = await textOf('read_file', { path: '/a' })
    expect(text).toContain('[unknown-tool]')
    expect(text).toContain(read)
  })

  test('an unknown tool', async () => {
    expect(await textOf('x'.repeat(1_000), {})).toContain('[unknown-tool]')
    expect((await textOf('x'.repeat(1_000), {})).length).toBeLessThan(400)
  })
})

describe('paths', () => {
  test.each([
    ['path-escape', read, { path: '/../etc/passwd' }],
    ['invalid-path', read, { path: '/a\0b' }],
    ['invalid-path', write, { path: `/${'n'.repeat(300)}`, content: '' }],
    ['not-found', read, { path: '/missing' }],
    ['is-directory', read, { path: '/' }],
  ])('%s', async (code, tool, args) => {
    expect(await textOf(tool, args)).toContain(`[${code}]`)
  })
})

test('content over the limit names the limit and the size', async () => {
  const args = { path: '/big', content: 'x'.repeat(2 * 1024 * 1024) }
  expect(await textOf(write, args, { maxFileSizeMb: 1 })).toContain('[too-large]')
})

describe('before anything is opened, execute refuses', () => {
  const { executor, store } = createHarness([], { workspaceProviders })
  const execute = (kind: string, capabilities: object, options: object = {}) =>
    executor.execute(
      defineAgent({
        name: 'a',
        llmConfig: { model: {} },
        workspaces: { box: { provider: { kind, ...options }, capabilities } },
      }),
      'x',
      { sessionId: 'refused' },
    )

  test.each([
    ['config-invalid', 'no-such-kind', { fs: true }, {}],
    ['capability-missing', 'in-memory', { shell: true }, {}],
    ['config-invalid', 'in-memory', { fs: true }, { maxTotalMb: 'lots', typo: 1 }],
  ])('%s', async (code, kind, capabilities, options) => {
    const error = await execute(kind, capabilities, options).catch((cause: unknown) => cause)
    expect(error).toMatchObject({ name: 'WorkspaceFailedError', code })
    expect(await store.loadSession('refused')).toBeNull()
  })

  test('an unknown kind names those that are registered', async () => {
    await expect(execute('no-such-kind', { fs: true })).rejects.toThrow(/in-memory/)
  })
})

test('a custom state that the agent does not accept is refused', async () => {
  const { executor } = createHarness([])
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    stateSchema: z.object({ n: z.number().default(0) }),
  })
  const input = { message: 'x', state: { n: 'many' } }
  await expect(executor.execute(agent, input)).rejects.toMatchObject({ code: 'definition-invalid' })
})
