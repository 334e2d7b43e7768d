import { defineAgent, defineTool, type Message } from '@helix-agents/core'
import type { StoredOutcome } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { agent, asked, died, finish, note, resultsOf, started } from './cut-off-step.ts'
import { chunksOf, createHarness, say } from './harness.ts'

async function decided(outcome: StoredOutcome) {
  const harness = createHarness([finish])
  const { store } = harness
  const write = { sessionId: 's', runId: 'dead', now: 0 }
  await store.createSession({ sessionId: 's', agentType: 'a', customState: undefined, now: 0 })
  await store.beginRun({ ...write, leaseMs: 1 })
  await store.appendMessages({ ...write, messages: [{ role: 'user', content: 'Go' }] })
  const messages: Message[] = [{ role: 'assistant', content: 'Done.' }]
  await store.commitStep({ ...write, messages, checkpointId: 'cp', outcome })
  return harness
}

describe('a run that was decided when its process died', () => {
  const error = { code: 'output-missing', message: 'no output' }
  const ends: readonly StoredOutcome[] = [
    { status: 'completed', output: { answer: 'before' } },
    { status: 'completed', output: null },
    { status: 'failed', error },
  ]

  test.each(ends)('ends with exactly that: $status $output', async (outcome) => {
    const harness = await decided(outcome)
    const handle = await harness.executor.resume(agent, 's')
    expect(await handle.result()).toMatchObject(outcome)
    const types = (await chunksOf(handle)).map(({ type }) => type)
    expect(types).toEqual([outcome.status === 'failed' ? 'error' : 'output'])
    expect(await harness.store.loadMessages('s')).toMatchObject({ total: 2 })
    const head = await harness.store.loadSession('s')
    expect(head).toMatchObject({ status: outcome.status })
    expect(head!.outcome).toBeUndefined()
  })

  test('goes on when it gets a new message', async () => {
    const harness = await decided(ends[0]!)
    const handle = await harness.executor.resume(agent, 's', { message: 'And now?' })
    expect((await handle.result()).output).toEqual({ answer: 'ok' })
  })

  test('stays decided when the next run cannot start', async () => {
    const harness = await decided(ends[0]!)
    const { streams } = harness
    const resumeRun = streams.resumeRun.bind(streams)
    streams.resumeRun = () => Promise.reject(new Error('no streams today'))
    await expect(harness.executor.resume(agent, 's')).rejects.toThrow('no streams today')
    streams.resumeRun = resumeRun
    expect(await harness.store.loadSession('s')).toMatchObject(ends[0]!)
  })
})

describe('a finishing tool', () => {
  const wrapUp = defineTool({
    name: 'wrap_up',
    description: '',
    inputSchema: z.object({}),
    finishWith: true,
    execute: () => ({ by: 'wrap_up', never: undefined }),
  })
  const ending = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [wrapUp, note('charge'), note('look', { readOnly: true })],
  })

  test('keeps its output when its step was cut off', async () => {
    const message = { role: 'tool', toolCallId: '0', toolName: 'wrap_up', content: '{}' } as const
    const result = { message, finish: { output: { by: 'before' } }, endedAt: 0 }
    const entries = [{ ...started('0', 'wrap_up'), result }, started('1', 'charge')]
    const harness = await died(asked('wrap_up', 'charge'), entries)
    const handle = await harness.executor.resume(ending, 's')
    expect(await handle.result()).toMatchObject({ status: 'completed', output: { by: 'before' } })
    expect((await resultsOf(harness))[1]).toContain('[outcome-unknown]')
  })

  test('does not end a run that hears a further message', async () => {
    const message = { role: 'tool', toolCallId: '0', toolName: 'wrap_up', content: '{}' } as const
    const result = { message, finish: { output: 'before' }, endedAt: 0 }
    const entries = [{ ...started('0', 'wrap_up'), result }]
    const harness = await died(asked('wrap_up', 'look'), entries)
    const next = harness.next([say('on we go')])
    const handle = await next.executor.resume(ending, 's', { message: 'And now?' })
    expect(await handle.result()).toMatchObject({ status: 'completed', output: 'on we go' })
    const { messages } = await harness.store.loadMessages('s')
    expect(messages.map(({ role }) => role).join(' ')).toBe(
      'user assistant tool tool user assistant',
    )
  })
})
