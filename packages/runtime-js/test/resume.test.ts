import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  type JournalEntry,
  type Message,
  type ToolAnnotations,
} from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, gate, say, textOfResult } from './harness.ts'

let ran: string[] = []
function note(name: string, annotations: Partial<ToolAnnotations> = {}) {
  return defineTool({
    name,
    description: '',
    inputSchema: z.object({}),
    annotations,
    execute: () => {
      ran.push(name)
      return `${name} ran`
    },
  })
}
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  tools: [
    note('look', { readOnly: true }),
    note('put', { idempotent: true }),
    note('charge'),
    note('refund'),
  ],
  outputSchema: z.object({ answer: z.string() }),
})
const finish = calls(['__finish__', { answer: 'ok' }])

/** A session whose process died in the middle of a step. */
async function died(messages: readonly Message[], journal: readonly JournalEntry[] = []) {
  ran = []
  const store = new InMemoryStateStore()
  const write = { sessionId: 's', runId: 'dead', now: 0 }
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 0 })
  await store.beginRun({ ...write, leaseMs: 1 })
  await store.appendMessages({ ...write, messages: messages.slice(0, 1) })
  await store.beginStep({ ...write, messages: messages.slice(1), journal })
  return createHarness([finish], { store })
}

function asked(...names: readonly string[]): readonly Message[] {
  const toolCalls = names.map((name, index) => ({ id: `${index}`, name, arguments: {} }))
  return [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: '', toolCalls },
  ]
}

function started(toolCallId: string, toolName: string): JournalEntry {
  return { toolCallId, toolName, arguments: {}, startedAt: 0 }
}

async function resultsOf({ store }: ReturnType<typeof createHarness>): Promise<string[]> {
  const { messages } = await store.loadMessages('s')
  return messages.filter(({ role }) => role === 'tool').map((message) => textOfResult(message))
}

const kept: JournalEntry = {
  ...started('3', 'refund'),
  result: {
    message: { role: 'tool', toolCallId: '3', toolName: 'refund', content: 'refunded before' },
    endedAt: 0,
  },
}
const step = asked('look', 'put', 'charge', 'refund')
const journal = [started('1', 'put'), started('2', 'charge'), kept]

describe('a step that was under way', () => {
  test('keeps results, repeats what is harmless, and says what is unknown', async () => {
    const harness = await died(step, journal)
    const handle = await harness.executor.resume(agent, 's')
    expect(await handle.result()).toMatchObject({ status: 'completed', output: { answer: 'ok' } })
    expect(ran.toSorted()).toEqual(['look', 'put'])
    const results = await resultsOf(harness)
    expect(results.slice(0, 2)).toEqual(['look ran', 'put ran'])
    expect(results[2]).toContain('[outcome-unknown]')
    expect(results[3]).toBe('refunded before')
    expect(await harness.store.loadJournal('s')).toEqual([])
  })

  test('is settled without running anything when the user has moved on', async () => {
    const harness = await died(step, journal)
    const handle = await harness.executor.execute(agent, 'Something else', { sessionId: 's' })
    expect((await handle.result()).status).toBe('completed')
    expect(ran).toEqual([])
    const results = await resultsOf(harness)
    expect(results[0]).toContain('[aborted]')
    expect(results[2]).toContain('[outcome-unknown]')
    expect(results[3]).toBe('refunded before')
  })

  test('is settled before a message that comes with the resume', async () => {
    const harness = await died(step, journal)
    await (await harness.executor.resume(agent, 's', { message: 'Hurry' })).result()
    const { messages } = await harness.store.loadMessages('s')
    expect(messages.map(({ role }) => role).slice(2, 7)).toEqual([
      'tool',
      'tool',
      'tool',
      'tool',
      'user',
    ])
  })

  test('names a tool that the agent does not have any more', async () => {
    const harness = await died(asked('gone'), [started('0', 'gone')])
    await (await harness.executor.resume(agent, 's')).result()
    expect((await resultsOf(harness))[0]).toContain('[outcome-unknown]')
  })
})

describe('a run that was done when its process died', () => {
  const done: Message = { role: 'tool', toolCallId: '0', toolName: '__finish__', content: 'Done.' }

  test('is completed without asking the model again', async () => {
    const messages: Message[] = [
      { role: 'user', content: 'Go' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: '0', name: '__finish__', arguments: { answer: 'before' } }],
      },
      done,
    ]
    const harness = await died(messages)
    const handle = await harness.executor.resume(agent, 's')
    expect((await handle.result()).output).toEqual({ answer: 'before' })
    expect(await harness.store.loadMessages('s')).toMatchObject({ total: 3 })
  })

  test('goes on when the output was refused', async () => {
    const [user, call] = asked('__finish__')
    const harness = await died([user!, call!, { ...done, isError: true }])
    const handle = await harness.executor.resume(agent, 's')
    expect((await handle.result()).output).toEqual({ answer: 'ok' })
  })
})

test('there must be something to resume', async () => {
  const harness = createHarness([finish, finish])
  const code = { code: 'not-resumable' }
  await expect(harness.executor.resume(agent, 'unknown')).rejects.toMatchObject(code)
  expect(await harness.executor.canResume(agent, 'unknown')).toMatchObject({ canResume: false })
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await handle.result()
  await expect(handle.resume()).rejects.toMatchObject(code)
  const more = await handle.resume({ message: 'And now?' })
  expect(await more.result()).toMatchObject({ status: 'completed', stepCount: 2 })
})

test('a restored checkpoint is where a resume goes on', async () => {
  const harness = createHarness([calls(['look']), calls(['charge']), finish])
  await (await harness.executor.execute(agent, 'x', { sessionId: 's' })).result()
  const { items } = await harness.store.listCheckpoints('s')
  await harness.store.restoreCheckpoint('s', items.at(-1)!.id, Date.now())
  const next = harness.next([calls(['refund']), finish])
  await (await next.executor.resume(agent, 's')).result()
  expect(await resultsOf(next)).toEqual(['look ran', 'refund ran', 'Done.'])
})

async function paused() {
  const hold = gate()
  const reached = gate()
  const wait = defineTool({
    name: 'wait',
    description: '',
    inputSchema: z.object({}),
    execute: () => (reached.open(), hold.opened),
  })
  const child = defineAgent({ name: 'child', llmConfig: { model: {} }, tools: [wait] })
  const parent = defineAgent({
    name: 'parent',
    llmConfig: { model: {} },
    tools: [createSubAgentTool(child, z.object({}))],
  })
  const harness = createHarness([calls(['subagent__child']), calls(['wait']), say('on we go')])
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 's' })
  await reached.opened
  await handle.interrupt()
  hold.open()
  expect((await handle.result()).status).toBe('interrupted')
  const statusOfChild = async () => (await harness.store.loadSession('s/s1-0'))?.status
  expect(await statusOfChild()).toBe('interrupted')
  return { harness, parent, handle, statusOfChild }
}

describe('a paused sub-agent', () => {
  test('ends with its parent', async () => {
    const { handle, statusOfChild } = await paused()
    await handle.abort()
    expect(await statusOfChild()).toBe('aborted')
  })

  test('ends when the user moves on', async () => {
    const { harness, parent, statusOfChild } = await paused()
    const next = await harness.executor.execute(parent, 'y', { sessionId: 's' })
    expect((await next.result()).output).toBe('on we go')
    expect(await statusOfChild()).toBe('aborted')
  })

  test('is not taken for the one of a step that is played again', async () => {
    const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
    const parent = defineAgent({
      name: 'parent',
      llmConfig: { model: {} },
      tools: [note('look', { readOnly: true }), createSubAgentTool(child, z.object({}))],
    })
    const ask = calls(['subagent__child'])
    const harness = createHarness([calls(['look']), ask, say('first'), say('end')])
    await (await harness.executor.execute(parent, 'x', { sessionId: 's' })).result()
    const { items } = await harness.store.listCheckpoints('s')
    await harness.store.restoreCheckpoint('s', items.at(-1)!.id, Date.now())
    const next = harness.next([ask, say('second'), say('end')])
    await (await next.executor.resume(parent, 's')).result()
    expect(await resultsOf(next)).toEqual(['look ran', 'second'])
  })
})
