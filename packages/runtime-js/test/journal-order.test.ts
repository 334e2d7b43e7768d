// What a run waits for: nothing goes on before what it builds on is stored, and nothing is stored twice.
import { defineTool, type ToolAnnotations } from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { agentWith, calls, createHarness, gate, say, settle } from './harness.ts'

/** A tool that runs beside the others. */
function tool(name: string, execute: () => unknown, more: object = {}) {
  const annotations: Partial<ToolAnnotations> = { readOnly: false }
  const base = { name, orderKey: name, description: '', inputSchema: z.object({}), annotations }
  return defineTool({ ...base, ...more, execute: async () => execute() })
}

const charge = tool('charge', () => 'charged')
const late = tool('late', settle)

/** A store that tells what it is asked to write, and does so when the test lets it. */
function heldStore(held: 'completeToolCall' | 'commitStep') {
  const store = new InMemoryStateStore()
  const asked: string[] = []
  const hold = gate()
  const completeToolCall = store.completeToolCall.bind(store)
  store.completeToolCall = async (end) => {
    asked.push(`call ${end.toolCallId}`)
    if (held === 'completeToolCall') await hold.opened
    return completeToolCall(end)
  }
  const commitStep = store.commitStep.bind(store)
  store.commitStep = async (step) => {
    asked.push('step')
    if (held === 'commitStep') await hold.opened
    return commitStep(step)
  }
  return { store, asked, hold }
}

describe('a run waits', () => {
  test('for the result of a call before it stores the step; the last one is stored with it', async () => {
    const { store, asked, hold } = heldStore('completeToolCall')
    const harness = createHarness([calls(['charge'], ['late']), say('done')], { store })
    const handle = await harness.executor.execute(agentWith(charge, late), 'Go', { sessionId: 's' })
    await settle()
    await settle()
    expect(asked).toEqual(['call a'])
    hold.open()
    expect(await handle.result()).toMatchObject({ output: 'done' })
    expect(asked).toEqual(['call a', 'step', 'step'])
  })

  test('for its step before it asks the model again', async () => {
    const { store, hold } = heldStore('commitStep')
    let isAsked = false
    const second = () => ((isAsked = true), say('done'))
    const harness = createHarness([calls(['charge']), second], { store })
    const handle = await harness.executor.execute(agentWith(charge), 'Go', { sessionId: 's' })
    await settle()
    expect(isAsked).toBe(false)
    hold.open()
    expect(await handle.result()).toMatchObject({ output: 'done' })
  })

  test('for the result of a call before it says that another one waits for a person', async () => {
    const { store, asked, hold } = heldStore('completeToolCall')
    const mail = tool('mail', () => 'sent', { needsApproval: true })
    const harness = createHarness([calls(['mail'], ['late'])], { store })
    const handle = await harness.executor.execute(agentWith(mail, late), 'Go', { sessionId: 's' })
    await settle()
    await settle()
    expect(asked).toEqual(['call b'])
    expect(await store.loadSession('s')).toMatchObject({ status: 'running' })
    hold.open()
    expect((await handle.result()).status).toBe('waiting')
  })
})

test('a result that is the output of the run is stored as such', async () => {
  const store = new InMemoryStateStore()
  const ends = new Map<string, unknown>()
  const completeToolCall = store.completeToolCall.bind(store)
  store.completeToolCall = (end) => {
    ends.set(end.toolCallId, end.result.finish)
    return completeToolCall(end)
  }
  const answer = tool('answer', () => ({ total: 3 }), { finishWith: true })
  const harness = createHarness([calls(['answer'], ['late'], ['charge'])], { store })
  const agent = agentWith(answer, late, charge)
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'completed', output: { total: 3 } })
  // The last one is stored with the step.
  expect(Object.fromEntries(ends)).toEqual({ a: { output: { total: 3 } }, c: undefined })
})

test('what a run has used is stored with its steps', async () => {
  const usage = { inputTokens: 60, outputTokens: 40 }
  const store = new InMemoryStateStore()
  const stored: unknown[] = []
  for (const name of ['beginStep', 'commitStep'] as const) {
    const write = store[name].bind(store) as (step: { usage?: object }) => Promise<void>
    Reflect.set(store, name, (step: { usage?: object }) => {
      stored.push([name, step.usage])
      return write(step)
    })
  }
  const harness = createHarness(
    [
      { ...calls(['charge']), usage },
      { ...say('done'), usage },
    ].map((step) => () => step),
    { store },
  )
  const handle = await harness.executor.execute(agentWith(charge), 'Go', { sessionId: 's' })
  const result = await handle.result()
  expect(result.usage).toMatchObject({ totalTokens: 200 })
  expect(stored[0]).toEqual(['beginStep', expect.objectContaining({ totalTokens: 100 })])
  expect(stored.at(-1)).toEqual(['commitStep', expect.objectContaining({ totalTokens: 200 })])
  expect((await store.loadSession('s'))?.usage).toMatchObject({ totalTokens: 200 })
})
