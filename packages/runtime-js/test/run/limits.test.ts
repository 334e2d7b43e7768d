// Limits of a run at their exact values.
import { askUserTool, defineTool, type MockStep, ModelError } from '@helix-agents/core'
import { contentLimits } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { findOpenCalls } from '../../src/call/find-open-calls.ts'
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

const { maxCharacters } = contentLimits
const plain = agentWith()
const tool = (name: string, execute: () => unknown) =>
  defineTool({ name, description: '', inputSchema: z.object({}), execute })

test.each([1, 2_147_483_647])('a lease of %d ms is one', (leaseMs) => {
  expect(createHarness([], { leaseMs }).executor.leaseMs).toBe(leaseMs)
})

test.each([0, -1, 1.5, 2_147_483_648, Number.NaN])('a lease of %d ms is refused', (leaseMs) => {
  expect(() => createHarness([], { leaseMs })).toThrow(
    `leaseMs must be a whole number from 1 to 2147483647, not ${leaseMs}`,
  )
})

test('a lease is stale at its last millisecond: the next call asks for it', async () => {
  const [clock, store, hold] = [new ManualClock(), new InMemoryStateStore(), gate()]
  const renew = store.renewRun.bind(store)
  const renewals = vi.spyOn(store, 'renewRun').mockRejectedValue(new Error('away'))
  const first: MockStep = () => hold.opened.then(() => calls(['put']))
  const harness = createHarness([first, say('done')], { clock, store, leaseMs: 3000 })
  const agent = agentWith(tool('put', () => 'put'))
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await clock.advance(2999)
  expect(renewals).toHaveBeenCalledTimes(2)
  await clock.advance(1)
  renewals.mockClear().mockImplementation(renew)
  hold.open()
  expect((await handle.result()).status).toBe('completed')
  expect(renewals).toHaveBeenCalledTimes(1)
})

test.each([
  [600_000, 'aborted'],
  [600_001, 'failed'],
])('a run that waits %d ms for its model is waited for until it is %s', async (ms, status) => {
  const error = new ModelError('rate-limited', { retryAfterMs: ms })
  const clock = new ManualClock()
  const { executor } = createHarness([{ type: 'error', error, shouldStop: false }], { clock })
  const handle = await executor.execute(plain, 'Go.')
  await settle()
  await handle.abort().catch(() => {})
  expect((await handle.result()).status).toBe(status)
})

test('text, thinking and arguments of a streamed answer have all its characters, and no more', async () => {
  const text = 'x'.repeat(maxCharacters - 2)
  for (const [delta, status] of [
    ['a', 'completed'],
    ['ab', 'failed'],
  ] as const) {
    const step: MockStep = ({ callbacks }) => {
      callbacks.onThinking?.('a', false)
      // Told as a whole at its end, which is not counted again.
      callbacks.onThinking?.('a', true)
      callbacks.onTextDelta?.(text)
      callbacks.onToolInput?.({ toolCallId: 'a', toolName: 'add', delta })
      return say('')
    }
    const { executor } = createHarness([step])
    expect((await (await executor.execute(plain, 'Go.')).result()).status).toBe(status)
  }
})

test('the id of a checkpoint names its session, step and time', async () => {
  const clock = new ManualClock(1_700_000_000_000)
  vi.spyOn(Math, 'random').mockReturnValue(0xab / 0x1_00_00_00)
  const { executor, store } = createHarness([say('one', false), say('two')], { clock })
  await (await executor.execute(plain, 'Go.', { sessionId: 's' })).result()
  expect((await store.listCheckpoints('s')).items.map(({ id }) => id)).toEqual([
    'cpv1-s-s2-t1700000000000-0000ab',
    'cpv1-s-s1-t1700000000000-0000ab',
  ])
})

test.each([
  [1, ''],
  [5, ''],
  [6, ' and 1 more'],
  [8, ' and 3 more'],
])('of %d questions that are open five are named', async (count, more) => {
  const agent = agentWith(askUserTool())
  const questions = Array.from({ length: count }, (_, index) => [
    'ask_user',
    { question: `Which ${index}?` },
  ]) as readonly (readonly [string, object])[]
  const { executor } = createHarness([calls(...questions)])
  const result = await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const requests = result.status === 'waiting' ? result.requests : []
  const named = requests
    .slice(0, 5)
    .map(({ requestId, preview }) => `${requestId} (${preview.title})`)
  const next = executor.execute(agent, 'And?', { sessionId: 's' })
  await expect(next).rejects.toMatchObject({
    code: 'waiting',
    message: `session s: it waits for the answer to ${named.join(', ')}${more}`,
    hint: 'Answer with respond(agent, sessionId, requestId, { decision }), or abort the session.',
  })
})

test.each([
  [4000, false],
  [4001, true],
])('edited input of %d characters is shown to the model: cut %s', async (length, isCut) => {
  const send = defineTool({
    name: 'send',
    description: '',
    inputSchema: z.object({ to: z.string() }),
    needsApproval: true,
    execute: () => 'sent',
  })
  const harness = createHarness([calls(['send', { to: 'ada' }]), say('done')])
  const agent = agentWith(send)
  const { executor } = harness
  await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const [request] = (await executor.listRequests({ sessionId: 's' })).items
  const input = { to: 'x'.repeat(length - '{"to":""}'.length) }
  const answer = { decision: 'approve', input } as const
  await (await executor.respond(agent, 's', request!.requestId, answer)).handle?.result()
  const text = JSON.stringify(input)
  const shown = isCut ? `${text.slice(0, 4000)}…` : text
  expect(textOfResult((await storedMessages(harness)).at(-2))).toBe(
    `[The user edited the input of this call before it ran. It ran with: ${shown}]\nsent`,
  )
})

const idsOf = (found: ReturnType<typeof findOpenCalls>) => found.map((one) => one.call.id)

test('results of an earlier step answer no call of the last one', () => {
  const call = { id: 'a', name: 'add', arguments: {} }
  const messages = [
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', toolCallId: 'a', toolName: 'add', content: '1' },
    { role: 'assistant', content: '', toolCalls: [call, { ...call, id: 'b' }] },
  ] as const
  expect(idsOf(findOpenCalls(messages))).toEqual(['a', 'b'])
  const answered = { role: 'tool', toolCallId: 'a', toolName: 'add', content: '1' } as const
  const [open, ...others] = findOpenCalls([...messages, answered])
  expect(others).toEqual([])
  expect(open).toEqual({
    call: { ...call, id: 'b' },
    index: 1,
    isRecovered: true,
    isJournaled: false,
    asks: false,
  })
  expect(findOpenCalls([{ role: 'user', content: 'x' }, answered])).toEqual([])
  expect(findOpenCalls([{ role: 'assistant', content: '' }])).toEqual([])
  expect(findOpenCalls([])).toEqual([])
})
