import { defineTool, type ToolFailedError } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  add,
  agentWith,
  calls,
  chunksOf,
  createHarness,
  say,
  settle,
  storedMessages,
  textOfResult,
} from './harness.ts'

describe('tools of one step', () => {
  const order: string[] = []
  const slow = (name: string, readOnly: boolean, orderKey?: string) =>
    defineTool({
      name,
      description: '',
      inputSchema: z.object({ id: z.string() }),
      annotations: { readOnly },
      ...(orderKey !== undefined && { orderKey }),
      execute: async ({ id }) => {
        order.push(`+${id}`)
        await settle()
        order.push(`-${id}`)
        return id
      },
    })

  test('reads run side by side, changes of one thing in their order', async () => {
    order.length = 0
    const agent = agentWith(slow('read', true, 'disk'), slow('write', false, 'disk'))
    const harness = createHarness([
      calls(
        ['read', { id: 'r1' }],
        ['read', { id: 'r2' }],
        ['write', { id: 'w' }],
        ['read', { id: 'r3' }],
      ),
      say('ok'),
    ])
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    await handle.result()
    expect(order).toEqual(['+r1', '+r2', '-r1', '-r2', '+w', '-w', '+r3', '-r3'])
    const results = (await storedMessages(harness)).filter((message) => message.role === 'tool')
    expect(results.map(({ content }) => content)).toEqual(['r1', 'r2', 'w', 'r3'])
  })

  test('a result that cannot be rendered does not look like a call that failed', async () => {
    const deploy = defineTool({
      name: 'deploy',
      description: '',
      inputSchema: z.object({}),
      execute: () => ({ done: true }),
      toModelOutput: () => {
        throw new Error('a defect of the tool')
      },
    })
    const harness = createHarness([calls(['deploy']), say('ok')])
    const handle = await harness.executor.execute(agentWith(deploy), 'x', { sessionId: 's' })
    await handle.result()
    const result = (await storedMessages(harness)).find((message) => message.role === 'tool')
    expect(result?.isError).toBeUndefined()
    expect(textOfResult(result)).toContain('succeeded')
    expect(await chunksOf(handle)).toContainEqual(
      expect.objectContaining({ type: 'tool_end', success: true, result: { done: true } }),
    )
    expect(harness.logger.with('tool failed')).toHaveLength(1)
  })

  test('a call whose id is used twice still gets its own result', async () => {
    const step = calls(['add', { a: 1, b: 1 }], ['add', { a: 2, b: 2 }])
    if (step.type !== 'tool_calls') throw new Error('unreachable')
    const same = { ...step, toolCalls: step.toolCalls.map((call) => ({ ...call, id: 'x' })) }
    const harness = createHarness([same, say('ok')])
    await (await harness.executor.execute(agentWith(add), 'x', { sessionId: 's' })).result()
    const results = (await storedMessages(harness)).filter((message) => message.role === 'tool')
    expect(results.map(({ content }) => content)).toEqual(['2', '4'])
    expect(new Set(results.map(({ toolCallId }) => toolCallId)).size).toBe(2)
  })
})

function failing(error: unknown) {
  return defineTool({
    name: 'fail',
    description: '',
    inputSchema: z.object({}),
    execute: async () => {
      throw error
    },
  })
}

/** A tool with little time, that hands over what it has or does not listen. */
function hurried(name: string, listens: boolean) {
  return defineTool({
    name,
    description: '',
    inputSchema: z.object({}),
    annotations: { readOnly: true },
    timeoutMs: 1_000,
    execute: (_, { abortSignal }) =>
      new Promise<string>((resolve) => {
        if (listens) abortSignal.addEventListener('abort', () => resolve('partial'))
      }),
  })
}

async function resultOf(error: unknown) {
  const harness = createHarness([calls(['fail']), say('ok')])
  const handle = await harness.executor.execute(agentWith(failing(error)), 'x', {
    sessionId: 's',
  })
  expect((await handle.result()).status).toBe('completed')
  const message = (await storedMessages(harness)).find(({ role }) => role === 'tool')
  const end = (await chunksOf(handle)).find(({ type }) => type === 'tool_end')
  return { harness, text: textOfResult(message), end }
}

describe('a tool that fails', () => {
  test('tells its own message to the model, and its cause to the operator', async () => {
    const error = new Error('no such customer')
    const { harness, text, end } = await resultOf(error)
    expect(text).toContain('tool-failed')
    expect(text).toContain('no such customer')
    expect(end).toMatchObject({ success: false, error: { code: 'tool-failed' } })
    const [line] = harness.logger.with('tool failed')
    expect(line!.fields).toMatchObject({ tool: 'fail', sessionId: 's' })
    expect((line!.fields as { err: ToolFailedError }).err.cause).toBe(error)
  })

  test('hides errors of the platform', async () => {
    const error = Object.assign(new Error("ENOENT: open '/home/me/secret'"), {
      code: 'ENOENT',
      syscall: 'open',
    })
    const { text, end } = await resultOf(error)
    expect(text).toContain('[internal]')
    expect(text).not.toContain('secret')
    expect(JSON.stringify(end)).not.toContain('secret')
  })

  test('does not end the run when it throws at once or throws nonsense', async () => {
    expect((await resultOf('just text')).text).toContain('[internal]')
    expect((await resultOf(undefined)).text).toContain('[internal]')
  })

  test('is stopped when its time is up; what it hands over in time counts', async () => {
    const clock = new ManualClock()
    const harness = createHarness([calls(['deaf'], ['listens']), say('ok')], { clock })
    const agent = agentWith(hurried('deaf', false), hurried('listens', true))
    const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
    await settle()
    await clock.advance(1_000)
    await clock.advance(5_000)
    await handle.result()
    const results = (await storedMessages(harness)).filter((message) => message.role === 'tool')
    expect(results[0]!.content).toContain('tool-timeout')
    expect(results[1]!.content).toBe('partial')
    expect(clock.pendingTimers).toBe(0)
  })
})
