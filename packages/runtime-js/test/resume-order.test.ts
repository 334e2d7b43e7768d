// What a process waits for that takes up a step another one has left, and what it does not ask for.
import { createSubAgentTool, defineAgent } from '@helix-agents/core'
import type { JournalEntry } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { agent, asked, died, note, ran, resultsOf, started } from './cut-off-step.ts'
import { createHarness, gate, say, settle } from './harness.ts'

/** Tells when something is asked of a method, and holds it back. */
function holdBack<T extends object, K extends keyof T>(
  target: T,
  name: K,
  isMeant: (...given: readonly unknown[]) => boolean = () => true,
) {
  const [reached, hold] = [gate(), gate()]
  const method = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>
  Reflect.set(target, name, async (...given: unknown[]) => {
    if (isMeant(...given)) {
      reached.open()
      await hold.opened
    }
    return method.apply(target, given)
  })
  return { reached, hold }
}

test('what is said of a call is stored before another one runs again', async () => {
  const { store, executor } = await died(asked('charge', 'put'), [
    started('0', 'charge'),
    started('1', 'put'),
  ])
  const { reached, hold } = holdBack(store, 'completeToolCall')
  const handle = await executor.resume(agent, 's')
  await reached.opened
  await settle()
  expect(ran).toEqual([])
  hold.open()
  expect((await handle.result()).status).toBe('completed')
  expect(ran).toEqual(['put'])
})

test('what is said of calls is stored with their step when none of them runs again', async () => {
  const { store, executor } = await died(asked('charge', 'refund'), [
    started('0', 'charge'),
    started('1', 'refund'),
  ])
  const { reached } = holdBack(store, 'completeToolCall')
  let isReached = false
  void reached.opened.then(() => (isReached = true))
  expect((await (await executor.resume(agent, 's')).result()).status).toBe('completed')
  expect(isReached).toBe(false)
})

test('a call behind one that was not started was not started either', async () => {
  const calls = [started('0', 'charge'), started('1', 'charge'), started('2', 'charge')]
  const harness = await died(asked('charge', 'charge', 'charge'), calls)
  await (await harness.executor.resume(agent, 's')).result()
  const [first, ...later] = (await resultsOf(harness)).slice(0, 3)
  expect(first).toContain('[outcome-unknown]')
  expect(later.map((text) => text.includes('[not-started]'))).toEqual([true, true])
  expect(ran).toEqual([])
})

const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
const childTool = createSubAgentTool(child, z.object({}))
const parent = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [childTool, note('put')] })
const write = { sessionId: 's/s1-0', runId: 'child', now: 0 }

/** A parent that died in a step with a sub-agent whose session began at the start of time. */
async function diedWithChild(entry: JournalEntry) {
  const { store } = await died(asked('subagent__child'), [entry])
  await store.createSession({
    sessionId: write.sessionId,
    agentType: 'child',
    parentSessionId: 's',
    customState: undefined,
    now: 0,
  })
  await store.beginRun({ ...write, leaseMs: 1 })
  await store.appendMessages({ ...write, messages: [{ role: 'user', content: 'Go' }] })
  return store
}

test('what a sub-agent has used is counted before the run goes on', async () => {
  const message = { role: 'tool', toolCallId: '0', toolName: 'subagent__child' } as const
  const store = await diedWithChild({
    ...started('0', 'subagent__child'),
    result: { message: { ...message, content: 'old' }, finish: { output: 'old' }, endedAt: 0 },
  })
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 }
  const spent = { ...usage, modelCalls: 1, durationMs: 0 }
  await store.commitStep({ ...write, messages: [], checkpointId: 'c', usage: spent })
  await store.endRun({ ...write, status: 'completed' })
  const { reached, hold } = holdBack(store, 'loadSession', (id) => id === write.sessionId)
  const { executor } = createHarness([], { store })
  const handle = await executor.resume(parent, 's')
  await reached.opened
  await settle()
  hold.open()
  const result = await handle.result()
  expect(result).toMatchObject({ status: 'completed', output: 'old', usage })
  expect((await store.loadSession('s'))?.usage).toMatchObject(usage)
})

test('a sub-agent that is left behind is ended before the user goes on', async () => {
  const store = await diedWithChild(started('0', 'subagent__child'))
  const { reached, hold } = holdBack(store, 'endRun')
  const { executor } = createHarness([say('as you like')], { store })
  let isStarted = false
  const starting = executor
    .execute(parent, 'Never mind', { sessionId: 's' })
    .finally(() => (isStarted = true))
  await reached.opened
  await settle()
  expect(isStarted).toBe(false)
  expect((await store.loadMessages('s')).messages).toHaveLength(2)
  hold.open()
  expect(await (await starting).result()).toMatchObject({ output: 'as you like' })
  expect(await store.loadSession(write.sessionId)).toMatchObject({ status: 'aborted' })
})

test('a sub-agent of an earlier call in the same place is not taken for that of this call', async () => {
  const store = await diedWithChild({ ...started('0', 'subagent__child'), startedAt: 1 })
  await store.endRun({ ...write, status: 'completed', output: 'of another call' })
  const harness = createHarness([say('of this call'), say('done')], { store })
  expect(await (await harness.executor.resume(parent, 's')).result()).toMatchObject({
    output: 'done',
  })
  expect(await resultsOf(harness)).toEqual(['of this call'])
})

test('a result that is not of a sub-agent costs no look for one', async () => {
  const message = { role: 'tool', toolCallId: '0', toolName: 'put', content: 'put before' } as const
  const kept = { ...started('0', 'put'), result: { message, endedAt: 0 } }
  const { store } = await died(asked('put', 'gone'), [kept])
  const looked = new Set<string>()
  const loadSession = store.loadSession.bind(store)
  store.loadSession = (id) => {
    looked.add(id)
    return loadSession(id)
  }
  const { executor } = createHarness([say('done')], { store })
  await (await executor.resume(parent, 's')).result()
  expect([...looked]).toEqual(['s'])
})
