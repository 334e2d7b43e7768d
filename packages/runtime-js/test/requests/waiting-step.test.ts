// A step in which a call waits for a person: what the others did is stored, or they would run again.
import { defineTool, type ToolAnnotations } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  agentWith,
  calls,
  createHarness,
  gate,
  say,
  settle,
  storedMessages,
  textOfResult,
} from '../harness.ts'

/** Each tool runs beside the others. */
function tool(name: string, execute: () => Promise<string>, more: object = {}) {
  const annotations: Partial<ToolAnnotations> = { readOnly: false }
  const base = { name, orderKey: name, description: '', inputSchema: z.object({}), annotations }
  return defineTool({ ...base, ...more, execute })
}

async function waitingStep() {
  const ran: string[] = []
  const [first, last] = [gate(), gate()]
  const run = (name: string, until: Promise<void>) => async () => {
    ran.push(name)
    await until
    return `${name} is done`
  }
  const agent = agentWith(
    tool('mail', run('mail', Promise.resolve()), { needsApproval: true }),
    tool('charge', run('charge', first.opened)),
    tool('refund', run('refund', last.opened)),
  )
  const store = new InMemoryStateStore()
  const stored: string[] = []
  const completeToolCall = store.completeToolCall.bind(store)
  store.completeToolCall = (end) => {
    stored.push(end.toolCallId)
    return completeToolCall(end)
  }
  const harness = createHarness([calls(['mail'], ['charge'], ['refund'])], { store })
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await settle()
  first.open()
  await settle()
  last.open()
  const result = await handle.result()
  return { agent, harness, result, ran, stored }
}

test('each result is stored once, also the one that comes last', async () => {
  const { result, stored } = await waitingStep()
  expect(result.status).toBe('waiting')
  expect(stored).toEqual(['b', 'c'])
})

test('another process that has the answer runs the call that waited, and no other one', async () => {
  const { agent, harness, result, ran } = await waitingStep()
  if (result.status !== 'waiting') throw new Error(`it is ${result.status}`)
  const { executor } = harness.next([say('done')])
  const { handle } = await executor.respond(agent, 's', result.requests[0]!.requestId, {
    decision: 'approve',
  })
  expect(await handle?.result()).toMatchObject({ status: 'completed', output: 'done' })
  expect(ran).toEqual(['charge', 'refund', 'mail'])
  const results = (await storedMessages(harness)).filter(({ role }) => role === 'tool')
  expect(results.map(textOfResult)).toEqual(['mail is done', 'charge is done', 'refund is done'])
})

/** A session whose process was shut down while one call waited for a person and another one ran. */
async function shutDownStep() {
  const ran: string[] = []
  const reached = gate()
  const charge = (name: string, { abortSignal }: { readonly abortSignal: AbortSignal }) => {
    ran.push(name)
    reached.open()
    return new Promise<string>((_, reject) => {
      abortSignal.addEventListener('abort', () => reject(abortSignal.reason))
    })
  }
  const base = { description: '', inputSchema: z.object({}), annotations: { readOnly: false } }
  const agent = agentWith(
    defineTool({ ...base, name: 'mail', needsApproval: true, execute: () => ran.push('mail') }),
    defineTool({ ...base, name: 'charge', execute: (_, call) => charge('charge', call) }),
  )
  const store = new InMemoryStateStore()
  const harness = createHarness([calls(['mail'], ['charge'])], { store })
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await reached.opened
  await settle()
  await harness.executor.shutdown({ timeoutMs: 1 })
  expect((await handle.result()).status).toBe('interrupted')
  const { items } = await harness.executor.listRequests({ sessionId: 's', state: 'open' })
  expect(items).toHaveLength(1)
  return { agent, harness, store, ran, requestId: items[0]!.requestId }
}

describe('a user who goes on after a shutdown', () => {
  test('withdraws the request, and no call runs again', async () => {
    const { agent, harness, ran } = await shutDownStep()
    const { executor } = harness.next([say('as you like')])
    const next = await executor.execute(agent, 'Never mind', { sessionId: 's' })
    expect(await next.result()).toMatchObject({ status: 'completed', output: 'as you like' })
    expect((await executor.listRequests({ sessionId: 's', state: 'open' })).items).toEqual([])
    expect(ran).toEqual(['charge'])
    const results = (await storedMessages(harness)).filter(({ role }) => role === 'tool')
    expect(results.map(textOfResult)).toEqual([
      expect.stringContaining('before this call was approved'),
      expect.stringContaining('stopped before it ended'),
    ])
  })

  test('is not overtaken by an answer: the request is withdrawn before the step ends', async () => {
    const { agent, harness, store, ran, requestId } = await shutDownStep()
    const [reached, hold] = [gate(), gate()]
    const events: string[] = []
    const resolveRequest = store.resolveRequest.bind(store)
    store.resolveRequest = async (...request) => {
      await settle()
      events.push(request[2].decision)
      return resolveRequest(...request)
    }
    const commitStep = store.commitStep.bind(store)
    store.commitStep = async (step) => {
      events.push('step')
      reached.open()
      await hold.opened
      return commitStep(step)
    }
    const { executor } = harness.next([say('as you like')])
    let isStarted = false
    const starting = executor
      .execute(agent, 'Never mind', { sessionId: 's' })
      .finally(() => (isStarted = true))
    await reached.opened
    expect(events).toEqual(['cancelled', 'step'])
    await settle()
    expect(isStarted).toBe(false)
    const answer = executor.respond(agent, 's', requestId, { decision: 'approve' })
    await expect(answer).rejects.toMatchObject({ code: 'already-decided' })
    hold.open()
    expect(await (await starting).result()).toMatchObject({ output: 'as you like' })
    expect(ran).toEqual(['charge'])
  })
})

describe('an approved call whose process died while it ran', () => {
  test.each(['execute', 'resume'] as const)(
    'does not run again, and the model is told that it may have run: %s',
    async (mode) => {
      let runs = 0
      const hang = () => {
        runs += 1
        return new Promise<string>(() => {})
      }
      const base = { description: '', inputSchema: z.object({}), annotations: { readOnly: false } }
      const agent = agentWith(
        defineTool({ ...base, name: 'mail', needsApproval: true, execute: hang }),
      )
      const harness = createHarness([calls(['mail'])], { clock: new ManualClock(0) })
      const first = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
      const result = await first.result()
      if (result.status !== 'waiting') throw new Error(`it is ${result.status}`)
      const { requestId } = result.requests[0]!
      await harness.executor.respond(agent, 's', requestId, { decision: 'approve' })
      await settle()
      // The lease of the process has run out for long.
      const { executor } = harness.next([say('I see')], { clock: new ManualClock(3_600_000) })
      const next =
        mode === 'execute'
          ? await executor.execute(agent, 'Well?', { sessionId: 's' })
          : await executor.resume(agent, 's')
      expect(await next.result()).toMatchObject({ status: 'completed', output: 'I see' })
      expect(runs).toBe(1)
      const results = (await storedMessages(harness)).filter(({ role }) => role === 'tool')
      expect(results.map(textOfResult)).toEqual([
        expect.stringContaining('it may have taken effect or not'),
      ])
    },
  )
})
