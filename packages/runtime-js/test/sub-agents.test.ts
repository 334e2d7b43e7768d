import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  type SubAgentToolOptions,
} from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, chunksOf, createHarness, gate, say, settle } from './harness.ts'

const workspaceProviders = new Map([['in-memory', new InMemoryWorkspaceProvider()]])
const files = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const

interface Family {
  readonly childTools?: ReturnType<typeof defineTool>[]
  readonly childFiles?: Readonly<Record<string, typeof files>>
  readonly options?: SubAgentToolOptions
}

function family({ childTools = [], childFiles = {}, options = {} }: Family = {}) {
  const child = defineAgent({
    name: 'child',
    llmConfig: { model: {} },
    tools: childTools,
    outputSchema: z.object({ answer: z.string() }),
    workspaces: childFiles,
  })
  const input = z.object({ task: z.string() })
  const parent = defineAgent({
    name: 'parent',
    llmConfig: { model: {} },
    tools: [createSubAgentTool(child, input, options)],
    workspaces: { notes: files },
  })
  return { parent, child }
}

const ask = calls(['subagent__child', { task: 'think' }])
const finish = calls(['__finish__', { answer: '42' }])

test('runs in a session of its own, and its output is the result of the tool', async () => {
  const { parent, child } = family()
  const harness = createHarness([ask, finish, say('It says 42.')], { workspaceProviders })
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 'p' })
  expect(await handle.result()).toMatchObject({ status: 'completed', output: 'It says 42.' })
  const { messages } = await harness.store.loadMessages('p')
  expect(messages[2]).toMatchObject({ toolName: 'subagent__child', content: '{"answer":"42"}' })
  const session = await harness.store.loadSession('p/s1-0')
  expect(session).toMatchObject({
    agentType: 'child',
    parentSessionId: 'p',
    status: 'completed',
    output: { answer: '42' },
  })
  const own = await harness.store.loadMessages('p/s1-0')
  expect(own.messages[0]).toEqual({ role: 'user', content: '{"task":"think"}' })
  const subHandle = await harness.executor.getHandle(child, 'p/s1-0')
  expect((await subHandle!.result()).output).toEqual({ answer: '42' })
})

test('shows its chunks on the stream of its parent, between its start and its end', async () => {
  const { parent } = family()
  const harness = createHarness([ask, finish, say('ok')], { workspaceProviders })
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 'p' })
  await handle.result()
  const chunks = await chunksOf(handle)
  expect(chunks.map(({ type, agentType }) => `${agentType} ${type}`)).toEqual([
    'parent tool_start',
    'parent subagent_start',
    'child tool_start',
    'child tool_end',
    'parent subagent_end',
    'parent tool_end',
    'parent text_delta',
    'parent output',
  ])
  expect(chunks[1]).toMatchObject({ subAgentType: 'child', subSessionId: 'p/s1-0' })
  expect(chunks[4]).toMatchObject({ success: true })
})

test('is isolated: the same workspace name is another workspace, with one warning', async () => {
  const { parent } = family({ childFiles: { notes: files } })
  const write = calls(['workspace__notes__write_file', { path: '/a', content: 'of the child' }])
  const read = calls(['workspace__notes__read_file', { path: '/a' }])
  const harness = createHarness([ask, write, finish, ask, finish, read, say('ok')], {
    workspaceProviders,
  })
  await (await harness.executor.execute(parent, 'x', { sessionId: 'p' })).result()
  const { messages } = await harness.store.loadMessages('p')
  expect(messages.findLast(({ role }) => role === 'tool')!.content).toContain('[not-found]')
  const warnings = harness.logger.with(logMessages.subAgentWorkspaceName)
  expect(warnings).toHaveLength(1)
  const fields = { workspace: 'notes', subAgent: 'child', agent: 'parent', sessionId: 'p' }
  expect(warnings[0]).toEqual({ level: 'warn', message: logMessages.subAgentWorkspaceName, fields })
})

test('inherits the workspaces of its parent where the call site says so', async () => {
  const childFiles = { notes: files, own: files }
  const { parent } = family({ childFiles, options: { inheritWorkspaces: true } })
  const harness = createHarness(
    [
      ask,
      calls(
        ['workspace__notes__write_file', { path: '/a', content: 'of the child' }],
        ['workspace__own__write_file', { path: '/b', content: 'mine' }],
      ),
      finish,
      calls(['workspace__notes__read_file', { path: '/a' }]),
      say('ok'),
    ],
    { workspaceProviders },
  )
  const options = { sessionId: 'p', keepWorkspaces: true }
  const handle = await harness.executor.execute(parent, 'x', options)
  expect((await handle.result()).status).toBe('completed')
  const { messages } = await harness.store.loadMessages('p')
  expect(messages.findLast(({ role }) => role === 'tool')!.content).toContain('of the child')
  expect(harness.logger.with(logMessages.subAgentWorkspaceName)).toEqual([])
  // The shared one is the parent's, and outlives the child; the child's own ended with it.
  expect(Object.keys((await harness.store.loadSession('p'))!.workspaceRefs)).toEqual(['notes'])
  expect((await harness.store.loadSession('p/s1-0'))!.workspaceRefs).toEqual({})
})

test('has a state of its own', async () => {
  const count = defineTool({
    name: 'count',
    description: '',
    inputSchema: z.object({}),
    execute: (_, context) => context.updateState<{ n?: number }>((draft) => void (draft.n = 1)),
  })
  const { parent } = family({ childTools: [count] })
  const harness = createHarness([ask, calls(['count']), finish, say('ok')], { workspaceProviders })
  await (await harness.executor.execute(parent, 'x', { sessionId: 'p' })).result()
  expect((await harness.store.loadSession('p'))!.customState).toBeUndefined()
  expect((await harness.store.loadSession('p/s1-0'))!.customState).toEqual({ n: 1 })
})

test('its failure is a tool result', async () => {
  const { parent } = family()
  const harness = createHarness(
    [ask, () => Promise.reject(new Error('secret')), say('I go on without it.')],
    { workspaceProviders },
  )
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 'p' })
  expect((await handle.result()).status).toBe('completed')
  const { messages } = await harness.store.loadMessages('p')
  expect(messages[2]).toMatchObject({ isError: true })
  expect(JSON.stringify(messages[2])).toContain('model-failed')
  expect(JSON.stringify(messages[2])).not.toContain('secret')
  const chunks = await chunksOf(handle)
  expect(chunks.filter(({ type }) => type === 'subagent_end')).toMatchObject([
    { toolCallId: 'a', subAgentType: 'child', success: false },
  ])
  expect(chunks.map(({ type }) => type)).not.toContain('error')
})

function holdingChild() {
  const hold = gate()
  const started = gate()
  const wait = defineTool({
    name: 'wait',
    description: '',
    inputSchema: z.object({}),
    annotations: { readOnly: true },
    execute: (_, { abortSignal }) => {
      started.open()
      return new Promise((resolve, reject) => {
        abortSignal.addEventListener('abort', () => reject(abortSignal.reason))
        void hold.opened.then(() => resolve('waited'))
      })
    },
  })
  return { hold, started, wait }
}

test('an abort of the parent reaches it', async () => {
  const { started, wait } = holdingChild()
  const { parent } = family({ childTools: [wait] })
  const harness = createHarness([ask, calls(['wait'])], { workspaceProviders })
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 'p' })
  await started.opened
  await handle.abort()
  expect((await handle.result()).status).toBe('aborted')
  expect(await harness.store.loadSession('p/s1-0')).toMatchObject({ status: 'aborted' })
})

test('an interrupt pauses both, and a resume goes on in the middle of it', async () => {
  const { started, hold, wait } = holdingChild()
  const { parent } = family({ childTools: [wait] })
  const harness = createHarness([ask, calls(['wait']), finish, say('done')], { workspaceProviders })
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 'p' })
  await started.opened
  await handle.interrupt()
  hold.open()
  expect(await handle.result()).toMatchObject({ status: 'interrupted', stepCount: 0 })
  expect(await harness.store.loadSession('p/s1-0')).toMatchObject({
    status: 'interrupted',
    stepCount: 1,
  })
  const resumed = await handle.resume()
  expect(await resumed.result()).toMatchObject({ status: 'completed', output: 'done' })
  const { messages } = await harness.store.loadMessages('p/s1-0')
  expect(messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'tool',
  ])
})

test('timeoutMs ends it', async () => {
  const clock = new ManualClock()
  const { started, wait } = holdingChild()
  const { parent } = family({ childTools: [wait], options: { timeoutMs: 2_000 } })
  const harness = createHarness([ask, calls(['wait']), say('too slow')], {
    workspaceProviders,
    clock,
  })
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 'p' })
  await started.opened
  await clock.advance(2_000)
  await settle()
  expect(await handle.result()).toMatchObject({ status: 'completed', output: 'too slow' })
  const { messages } = await harness.store.loadMessages('p')
  expect(JSON.stringify(messages[2])).toContain('tool-timeout')
  expect(clock.pendingTimers).toBe(0)
})

test('two calls of one step run side by side', async () => {
  const { hold, wait } = holdingChild()
  const { parent } = family({ childTools: [wait] })
  const twice = calls(['subagent__child', { task: '1' }], ['subagent__child', { task: '2' }])
  const harness = createHarness(
    [twice, calls(['wait']), calls(['wait']), finish, finish, say('ok')],
    { workspaceProviders },
  )
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 'p' })
  await settle()
  expect((await harness.store.loadSession('p/s1-0'))!.status).toBe('running')
  expect((await harness.store.loadSession('p/s1-1'))!.status).toBe('running')
  hold.open()
  expect((await handle.result()).status).toBe('completed')
})
