// Messages and stops that reach a session from anywhere: stored first, delivered once and in order.
import { defineTool, MockLLMAdapter, type MockStep, type StepInput } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  agentWith,
  calls,
  chunksOf,
  createHarness,
  gate,
  say,
  settle,
  storedMessages,
} from '../harness.ts'

function userTexts(messages: readonly { role: string; content: unknown }[]): unknown[] {
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content)
}

/** An agent whose tool `slow` waits until the test opens it. */
function slowFixture(steps: readonly MockStep[]) {
  const held = gate()
  const slow = defineTool({
    name: 'slow',
    description: 'Waits.',
    inputSchema: z.object({}),
    execute: () => held.opened,
  })
  const clock = new ManualClock(0)
  const agent = agentWith(slow)
  const seen: unknown[][] = []
  const model = new MockLLMAdapter(steps)
  const adapter = {
    generateStep: (input: StepInput) => {
      seen.push(userTexts(input.messages))
      return model.generateStep(input)
    },
  }
  const harness = createHarness([], { clock, adapter })
  return { held, clock, agent, harness, seen }
}

describe('a message to a run under way', () => {
  test('steer reaches the model before its next call, followUp starts the next turn', async () => {
    const parts = slowFixture([calls(['slow']), say('one'), say('two')])
    const { executor } = parts.harness
    const handle = await executor.execute(parts.agent, 'Go', { sessionId: 's' })
    await settle()
    await executor.send(parts.agent, 's', 'and then', { delivery: 'followUp', messageId: 'f' })
    await executor.send(parts.agent, 's', 'not that', { delivery: 'steer', messageId: 'm' })
    await executor.send(parts.agent, 's', 'not that', { delivery: 'steer', messageId: 'm' })
    parts.held.open()
    expect(await handle.result()).toMatchObject({ output: 'one' })
    await settle()
    const next = await executor.getHandle(parts.agent, 's')
    expect(await next?.result()).toMatchObject({ output: 'two' })
    expect(parts.seen).toEqual([['Go'], ['Go', 'not that'], ['Go', 'not that', 'and then']])
    expect(userTexts(await storedMessages(parts.harness))).toEqual(['Go', 'not that', 'and then'])
  })

  test('a steer alone is enough for it to be looked for', async () => {
    const parts = slowFixture([calls(['slow']), say('one')])
    const { executor } = parts.harness
    const handle = await executor.execute(parts.agent, 'Go', { sessionId: 's' })
    await settle()
    await executor.send(parts.agent, 's', 'not that')
    parts.held.open()
    expect(await handle.result()).toMatchObject({ output: 'one' })
    expect(parts.seen).toEqual([['Go'], ['Go', 'not that']])
  })

  test('a process that is shut down leaves it to the next one', async () => {
    const held = gate()
    const last = () => held.opened.then(() => say('one'))
    const parts = slowFixture([last, say('not in this process')])
    const { executor, store } = parts.harness
    const handle = await executor.execute(parts.agent, 'Go', { sessionId: 's' })
    await settle()
    await executor.send(parts.agent, 's', 'and then', { delivery: 'followUp', messageId: 'f' })
    const down = executor.shutdown()
    held.open()
    await down
    expect(await handle.result()).toMatchObject({ status: 'completed', output: 'one' })
    await settle()
    expect(parts.seen).toEqual([['Go']])
    expect(await store.loadSession('s')).toMatchObject({ status: 'completed' })
    const next = createHarness([say('two')], parts.harness)
    const recovery = await next.executor.recover(parts.agent, 's')
    if (recovery.outcome !== 'resumed') throw new Error(recovery.outcome)
    expect(await recovery.handle.result()).toMatchObject({ output: 'two' })
  })

  test('of another process arrives through the store', async () => {
    const parts = slowFixture([calls(['slow']), say('done')])
    const handle = await parts.harness.executor.execute(parts.agent, 'Go', { sessionId: 's' })
    await settle()
    const other = parts.harness.next([])
    expect(await other.executor.send(parts.agent, 's', 'left')).toEqual({
      messageId: expect.any(String),
    })
    await parts.clock.advance(500)
    await settle()
    parts.held.open()
    await handle.result()
    expect(parts.seen.at(-1)).toEqual(['Go', 'left'])
  })

  test('that comes with execute is sent when it may be', async () => {
    const parts = slowFixture([calls(['slow']), say('done')])
    const { executor } = parts.harness
    const handle = await executor.execute(parts.agent, 'Go', { sessionId: 's' })
    await settle()
    const options = { sessionId: 's', ifRunning: 'steer' } as const
    const same = await executor.execute(parts.agent, 'left', options)
    expect(same.runId).toBe(handle.runId)
    parts.held.open()
    expect(await same.result()).toMatchObject({ output: 'done' })
    const chunks = (await chunksOf(handle)).map(({ type }) => type)
    expect(chunks).toContain('message_queued')
  })
})

describe('a message to a session that does not run', () => {
  test('starts its next turn', async () => {
    const parts = slowFixture([say('one'), say('two')])
    const { executor } = parts.harness
    await (await executor.execute(parts.agent, 'Go', { sessionId: 's' })).result()
    const { handle } = await executor.send(parts.agent, 's', 'more', { delivery: 'followUp' })
    expect(await handle?.result()).toMatchObject({ output: 'two' })
    expect(parts.seen.at(-1)).toEqual(['Go', 'more'])
  })

  test('that was left by a process that died is taken up by recover', async () => {
    const parts = slowFixture([say('one'), say('two')])
    const { executor, store } = parts.harness
    await (await executor.execute(parts.agent, 'Go', { sessionId: 's' })).result()
    const message = { role: 'user', content: 'late' } as const
    const queued = { messageId: 'm', sessionId: 's', delivery: 'followUp', message, createdAt: 0 }
    await (store as never as { queueMessage(given: object): Promise<void> }).queueMessage(queued)
    const recovery = await executor.recover(parts.agent, 's')
    if (recovery.outcome !== 'resumed') throw new Error(recovery.outcome)
    expect(await recovery.handle.result()).toMatchObject({ output: 'two' })
    expect(await executor.recover(parts.agent, 's')).toMatchObject({ outcome: 'not-needed' })
  })
})

describe('a stop from another process', () => {
  test('reaches a run whose store did not answer before, which is logged', async () => {
    const parts = slowFixture([calls(['slow']), say('never')])
    const { executor, logger, store } = parts.harness
    const loadSignals = store.loadSignals.bind(store)
    store.loadSignals = () => Promise.reject(new Error('no answer'))
    const handle = await executor.execute(parts.agent, 'Go', { sessionId: 's' })
    await store.requestStop('s', 'abort')
    await parts.clock.advance(500)
    expect(logger.with('signals of session not loaded')).toHaveLength(1)
    store.loadSignals = loadSignals
    await parts.clock.advance(500)
    parts.held.open()
    expect(await handle.result()).toMatchObject({ status: 'aborted' })
  })

  test.each(['interrupt', 'abort'] as const)('%s is obeyed within a second', async (stop) => {
    const parts = slowFixture([calls(['slow']), say('never')])
    const handle = await parts.harness.executor.execute(parts.agent, 'Go', { sessionId: 's' })
    await settle()
    const other = await parts.harness.next([]).executor.getHandle(parts.agent, 's')
    await (stop === 'abort' ? other?.abort() : other?.interrupt())
    await parts.clock.advance(500)
    await settle()
    parts.held.open()
    expect(await handle.result()).toMatchObject({
      status: stop === 'abort' ? 'aborted' : 'interrupted',
    })
    await expect(other?.interrupt()).rejects.toMatchObject({ code: 'not-running' })
  })
})
