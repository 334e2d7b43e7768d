import { defineAgent } from '@helix-agents/core'
import type { JournalEntry } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, test } from 'vitest'
import {
  agent,
  asked,
  config,
  died,
  finish,
  note,
  ran,
  resultsOf,
  started,
} from './cut-off-step.ts'
import { calls, createHarness } from './harness.ts'

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

describe('a step whose calls keep their order', () => {
  const asking = asked('charge', 'put', 'charge', 'look')

  test('has not started what waits for a call without a result', async () => {
    const started0 = [started('0', 'charge'), started('1', 'put'), started('2', 'charge')]
    const harness = await died(asking, started0)
    await (await harness.executor.resume(agent, 's')).result()
    const [first, put, second, look] = await resultsOf(harness)
    expect([put, look]).toEqual(['put ran', 'look ran'])
    expect(first).toContain('[outcome-unknown]')
    expect(second).toContain('[not-started]')
    expect(ran.toSorted()).toEqual(['look', 'put'])
  })

  test('is told the same of its calls when the user moves on', async () => {
    const started0 = [started('0', 'charge'), started('1', 'put'), started('2', 'charge')]
    const harness = await died(asking, started0)
    await (await harness.executor.execute(agent, 'Something else', { sessionId: 's' })).result()
    const [first, put, second, look] = await resultsOf(harness)
    expect([first, put].every((text) => text!.includes('[outcome-unknown]'))).toBe(true)
    expect(second).toContain('[not-started]')
    expect(look).toContain('[aborted]')
  })

  test('says the same of a call after a further death', async () => {
    const inOrder = note('put', { idempotent: true }, 'charge')
    const other = defineAgent({ ...config, tools: [inOrder, note('charge'), note('refund')] })
    const started0 = [started('0', 'put'), started('1', 'charge'), started('2', 'refund')]
    const harness = await died(asked('put', 'charge', 'refund'), started0)
    // The next process says what it knows, runs `put` again and dies with its commit.
    const { store } = harness
    const dying = new Proxy(store, {
      get: (target, key) => {
        const method = Reflect.get(target, key) as (...args: unknown[]) => unknown
        if (key === 'commitStep' || key === 'endRun') return () => Promise.reject(new Error('dead'))
        return method.bind(target)
      },
    })
    const dead = createHarness([finish], { store: dying, leaseMs: 1 })
    expect((await (await dead.executor.resume(other, 's')).result()).status).toBe('failed')
    const last = harness.next([finish], { clock: new ManualClock(Date.now() + 1_000) })
    await (await last.executor.resume(other, 's')).result()
    const [put, charge, refund] = await resultsOf(last)
    expect(put).toBe('put ran')
    expect(charge).toContain('[not-started]')
    expect(refund).toContain('[outcome-unknown]')
    expect(ran).toEqual(['put'])
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
  await harness.executor.restoreCheckpoint(agent, 's', items.at(-1)!.id)
  const next = harness.next([calls(['refund']), finish])
  await (await next.executor.resume(agent, 's')).result()
  expect(await resultsOf(next)).toEqual(['look ran', 'refund ran', 'Done.'])
})

test('what cannot be resumed says what can be done instead', async () => {
  const harness = createHarness([finish])
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await handle.result()
  const hint = expect.stringContaining('execute(agent, message, { sessionId })')
  await expect(handle.resume()).rejects.toMatchObject({ code: 'not-resumable', hint })
})
