import { defineAgent, defineTool } from '@helix-agents/core'
import type { Span, Tracer } from '@helix-agents/core/runtime'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  add,
  agentWith,
  calls,
  chunksOf,
  createHarness,
  gate,
  say,
  settle,
  storedMessages,
  typesOf,
} from './harness.ts'

describe('one run', () => {
  test('goes from model to tool to stream to store', async () => {
    const harness = createHarness([calls(['add', { a: 1, b: 2 }]), say('It is 3.')])
    const handle = await harness.executor.execute(agentWith(add), 'Add 1 and 2', { sessionId: 's' })
    expect(await handle.result()).toMatchObject({
      status: 'completed',
      output: 'It is 3.',
      sessionId: 's',
      stepCount: 2,
    })
    expect(await storedMessages(harness)).toEqual([
      { role: 'user', content: 'Add 1 and 2' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'a', name: 'add', arguments: { a: 1, b: 2 } }],
      },
      { role: 'tool', toolCallId: 'a', toolName: 'add', content: '3' },
      { role: 'assistant', content: 'It is 3.' },
    ])
    const chunks = await chunksOf(handle)
    expect(chunks.map(({ type }) => type)).toEqual([
      'tool_start',
      'tool_end',
      'text_delta',
      'output',
    ])
    expect(chunks[1]).toMatchObject({
      toolCallId: 'a',
      success: true,
      result: 3,
      agentType: 'worker',
    })
    expect(chunks[0]!.agentId).toBe(handle.runId)
    expect(await harness.store.loadSession('s')).toMatchObject({
      status: 'completed',
      output: 'It is 3.',
      stepCount: 2,
    })
  })

  test('writes a file into a workspace and reads it back', async () => {
    const harness = createHarness(
      [
        calls(['workspace__notes__write_file', { path: '/poem.txt', content: 'Roses are red.\n' }]),
        calls(['workspace__notes__read_file', { path: '/poem.txt' }]),
        say('Done.'),
      ],
      { workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]) },
    )
    const agent = defineAgent({
      name: 'writer',
      llmConfig: { model: {} },
      workspaces: { notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
    })
    const options = { sessionId: 's', keepWorkspaces: false }
    const handle = await harness.executor.execute(agent, 'Write', options)
    expect(await handle.result()).toMatchObject({ status: 'completed' })
    const results = (await storedMessages(harness)).filter((message) => message.role === 'tool')
    expect(results.map((message) => message.isError)).toEqual([undefined, undefined])
    expect(results[1]!.content).toContain('Roses are red.')
    expect((await harness.store.loadSession('s'))!.workspaceRefs).toEqual({})
  })

  test('keeps its workspaces for the next turn', async () => {
    const harness = createHarness(
      [
        calls(['workspace__notes__write_file', { path: '/a.txt', content: 'kept\n' }]),
        say('One.'),
        calls(['workspace__notes__read_file', { path: '/a.txt' }]),
        say('Two.'),
      ],
      { workspaceProviders: [new InMemoryWorkspaceProvider()] },
    )
    const agent = defineAgent({
      name: 'writer',
      llmConfig: { model: {} },
      workspaces: { notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
    })
    for (const message of ['One', 'Two']) {
      await (await harness.executor.execute(agent, message, { sessionId: 's' })).result()
    }
    const last = (await storedMessages(harness)).findLast((message) => message.role === 'tool')
    expect(last!.content).toContain('kept')
  })

  test('shows the live registry only while it runs', async () => {
    const hold = gate()
    const wait = defineTool({
      name: 'wait',
      description: '',
      inputSchema: z.object({}),
      execute: () => hold.opened,
    })
    const harness = createHarness([calls(['wait']), say('ok')], {
      workspaceProviders: new Map([['in-memory', new InMemoryWorkspaceProvider()]]),
      workspaceOpenStrategy: 'eager',
    })
    const agent = defineAgent({
      name: 'writer',
      llmConfig: { model: {} },
      tools: [wait],
      workspaces: { notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
    })
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    await settle()
    const described = harness.executor.getWorkspaceRegistry('s')!.describe()
    expect(described).toMatchObject([{ name: 'notes', state: 'open', providerId: 'in-memory' }])
    hold.open()
    await handle.result()
    expect(harness.executor.getWorkspaceRegistry('s')).toBeUndefined()
  })

  test('gives the model the same arrays in every step, and its usage is summed up', async () => {
    const seen: unknown[] = []
    const usage = { inputTokens: 10, outputTokens: 2 }
    const step = { ...calls(['add', { a: 1, b: 1 }]), usage }
    const harness = createHarness([
      (input) => (seen.push(input.tools, input.messages), step),
      (input) => (seen.push(input.tools, input.messages), { ...say('x'), usage }),
    ])
    const handle = await harness.executor.execute(agentWith(add), 'x')
    const result = await handle.result()
    expect(seen[0]).toBe(seen[2])
    expect(seen[1]).toBe(seen[3])
    expect(result.usage).toMatchObject({ inputTokens: 20, outputTokens: 4, totalTokens: 24 })
  })

  test('takes messages with files, and labels for a new session', async () => {
    const harness = createHarness([say('ok')])
    const file = { data: 'aGk=', mediaType: 'text/plain', filename: 'a.txt' }
    const message = { role: 'user', content: 'Look', files: [file] } as const
    const labels = { userId: 'u', tags: ['t'], metadata: { k: 1 } }
    await (
      await harness.executor.execute(agentWith(), { message }, { sessionId: 's', ...labels })
    ).result()
    expect((await storedMessages(harness))[0]).toEqual(message)
    expect(await harness.store.loadSession('s')).toMatchObject(labels)
  })

  test('streams text of an adapter that does not stream', async () => {
    const adapter = { generateStep: () => Promise.resolve(say('whole')) }
    const harness = createHarness([], { adapter })
    const handle = await harness.executor.execute(agentWith(), 'x')
    await handle.result()
    expect(await chunksOf(handle)).toMatchObject([{ type: 'text_delta', delta: 'whole' }, {}])
  })

  test('an answer that asks for another step goes on', async () => {
    const harness = createHarness([say('first', false), say('second')])
    const handle = await harness.executor.execute(agentWith(), 'x')
    expect(await handle.result()).toMatchObject({ output: 'second', stepCount: 2 })
  })

  test('makes the prompt from the custom state', async () => {
    const prompts: unknown[] = []
    const count = defineTool({
      name: 'count',
      description: '',
      inputSchema: z.object({}),
      execute: (_, context) => context.updateState<{ n: number }>((draft) => void (draft.n += 1)),
    })
    const agent = defineAgent({
      name: 'counter',
      llmConfig: { model: {} },
      stateSchema: z.object({ n: z.number().default(0) }),
      systemPrompt: (state) => `n is ${state.n}`,
      tools: [count],
    })
    const harness = createHarness([
      (input) => (prompts.push(input.systemPrompt), calls(['count'], ['count'])),
      (input) => (prompts.push(input.systemPrompt), say('ok')),
    ])
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    await handle.result()
    expect(prompts).toEqual(['n is 0', 'n is 2'])
    expect((await harness.store.loadSession('s'))!.customState).toEqual({ n: 2 })
    const patches = (await chunksOf(handle)).filter(({ type }) => type === 'state_patch')
    expect(patches).toMatchObject([
      { patches: [{ op: 'replace', path: '/n', value: 1 }] },
      { patches: [{ op: 'replace', path: '/n', value: 2 }] },
    ])
  })
})

describe('an agent with an output schema', () => {
  const agent = defineAgent({
    name: 'reporter',
    llmConfig: { model: {} },
    outputSchema: z.object({ title: z.string() }),
  })

  test('ends with __finish__, once its arguments are right', async () => {
    const harness = createHarness([
      calls(['__finish__', { title: 7 }]),
      calls(['__finish__', { title: 'Report' }]),
    ])
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    const result = await handle.result()
    expect(result.status).toBe('completed')
    expect(result.output?.title).toBe('Report')
    const errors = (await storedMessages(harness)).filter((m) => m.role === 'tool' && m.isError)
    expect(errors).toHaveLength(1)
    expect(JSON.stringify(errors[0])).toContain('title')
  })

  test('is reminded, and fails when it never gives one', async () => {
    const harness = createHarness([say('done'), say('really'), say('done!')])
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    expect(await handle.result()).toMatchObject({
      status: 'failed',
      error: { code: 'output-missing' },
    })
    const roles = (await storedMessages(harness)).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant'])
  })

  test('takes structured output of the model when it fits', async () => {
    const good = createHarness([{ type: 'structured_output', output: { title: 'T' } }])
    expect(await (await good.executor.execute(agent, 'x')).result()).toMatchObject({
      output: { title: 'T' },
    })
    const bad = createHarness([{ type: 'structured_output', output: { title: 1 } }])
    expect(await (await bad.executor.execute(agent, 'x')).result()).toMatchObject({
      error: { code: 'output-invalid' },
    })
  })

  test('a tool with finishWith completes the run with its result', async () => {
    const submit = defineTool({
      name: 'submit',
      description: '',
      inputSchema: z.object({ n: z.number() }),
      finishWith: true,
      execute: ({ n }) => ({ doubled: n * 2 }),
    })
    const harness = createHarness([calls(['submit', { n: 4 }])])
    const handle = await harness.executor.execute(agentWith(submit), 'x')
    expect((await handle.result()).output).toEqual({ doubled: 8 })
  })
})

test.each([
  ['rejects', () => Promise.reject(new Error('stream is down'))],
  [
    'throws',
    () => {
      throw new Error('stream is down')
    },
  ],
])('a stream that %s does not stop the run', async (_, write) => {
  const harness = createHarness([calls(['add', { a: 1, b: 1 }]), say('ok')])
  harness.streams.startRun = () => Promise.resolve({ write })
  const handle = await harness.executor.execute(agentWith(add), 'x')
  expect((await handle.result()).status).toBe('completed')
  expect(harness.logger.with('stream write failed')).toHaveLength(1)
})

const ignore = (): void => {}
const silentSpan: Span = {
  setAttribute: ignore,
  setAttributes: ignore,
  setStatus: ignore,
  recordException: ignore,
  end: ignore,
}

test('spans cover the run, its steps, model calls and tool calls', async () => {
  const names: string[] = []
  const span: Span = { ...silentSpan, end: () => names.push('end') }
  const tracer: Tracer = {
    startActiveSpan: (name, _, work) => {
      names.push(name)
      return work(span)
    },
  }
  const harness = createHarness([calls(['add', { a: 1, b: 1 }]), say('ok')], { tracer })
  const agent = agentWith(add)
  await (await harness.executor.execute(agent, 'x')).result()
  const step = ['helix.step', 'chat', 'end']
  const ends = ['end', 'end']
  expect(names).toEqual([
    `invoke_agent ${agent.name}`,
    ...step,
    'execute_tool add',
    ...ends,
    ...step,
    ...ends,
  ])
})

test('a second turn hears the first one', async () => {
  const harness = createHarness([say('one'), (input) => say(String(input.messages.length))])
  const agent = agentWith()
  await (await harness.executor.execute(agent, 'a', { sessionId: 's' })).result()
  const second = await harness.executor.execute(agent, 'b', { sessionId: 's' })
  expect(await second.result()).toMatchObject({ output: '3', stepCount: 2 })
  expect(await typesOf(second)).toEqual(['text_delta', 'output'])
  expect(await harness.store.listRuns('s')).toHaveLength(2)
})
