// Which session a run gets, which it does not get, and with what state.
import { askUserTool, defineAgent } from '@helix-agents/core'
import type { SessionState } from '@helix-agents/core/runtime'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { LaunchRequest, RunServices } from '../../src/ports.ts'
import { customStateOf, prepareSession, whyNotResumable } from '../../src/run/prepare-session.ts'
import { calls, createHarness, say } from '../harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  tools: [askUserTool()],
  stateSchema: z.object({ n: z.number().default(1), text: z.string().optional() }),
})
const hint = 'Start a new turn with execute(agent, message, { sessionId }), or branch from it.'
const message = { role: 'user', content: 'Go' } as const
const ask = (more: object = {}) =>
  ({
    agent,
    sessionId: 's',
    mode: 'execute',
    messages: [message],
    ...more,
  }) as unknown as LaunchRequest
const servicesOf = (stateStore: object) =>
  ({ stateStore, clock: { now: () => 7 } }) as unknown as RunServices

test('an unknown session is made for a turn, with what the caller says of it', async () => {
  const store = new InMemoryStateStore()
  const labels = { userId: 'u', tags: ['t'] }
  const parent = { sessionId: 'p' } as LaunchRequest['parent']
  const request = ask({ state: { text: 'x' }, labels, parent })
  const made = await prepareSession(servicesOf(store), request)
  expect(made.isNew).toBe(true)
  expect(made.session).toMatchObject({
    ...labels,
    sessionId: 's',
    agentType: 'a',
    parentSessionId: 'p',
    customState: { n: 1, text: 'x' },
    createdAt: 7,
  })
  const other = await prepareSession(servicesOf(store), ask({ sessionId: 'other' }))
  expect(other.session.parentSessionId).toBeUndefined()
  expect(await prepareSession(servicesOf(store), request)).toMatchObject({ isNew: false })
})

test('none is made to be resumed', async () => {
  const store = new InMemoryStateStore()
  await expect(prepareSession(servicesOf(store), ask({ mode: 'resume' }))).rejects.toMatchObject({
    code: 'not-resumable',
    message: 'session s: there is no such session',
  })
  expect(await store.loadSession('s')).toBeNull()
})

test('one of another agent is told by that, also to a turn', async () => {
  const { executor, store } = createHarness([say('done')])
  await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const other = defineAgent({ name: 'b', llmConfig: { model: {} } })
  for (const mode of ['execute', 'resume']) {
    const preparing = prepareSession(servicesOf(store), ask({ agent: other, mode }))
    await expect(preparing).rejects.toMatchObject({
      code: 'other-agent',
      message: 'session s: it belongs to agent a',
    })
  }
})

test('a completed one is resumed with a message only, and has its next turn without', async () => {
  const { executor, store } = createHarness([say('done')])
  await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const services = servicesOf(store)
  const resumed = prepareSession(services, ask({ mode: 'resume', messages: [] }))
  await expect(resumed).rejects.toMatchObject({
    code: 'not-resumable',
    message: 'session s: it is completed',
    hint,
  })
  for (const more of [{ mode: 'resume' }, {}, { messages: [] }]) {
    expect(await prepareSession(services, ask(more))).toMatchObject({ isNew: false })
  }
})

test('one that waits is looked at for open questions by a message, and by nothing else', async () => {
  const { executor, store } = createHarness([calls(['ask_user', { question: 'Which?' }])])
  await (await executor.execute(agent, 'Go', { sessionId: 's' })).result()
  const services = servicesOf(store)
  const list = vi.spyOn(store, 'listRequests')
  expect(await prepareSession(services, ask({ mode: 'resume', messages: [] }))).toBeDefined()
  expect(await prepareSession(services, ask({ messages: [] }))).toBeDefined()
  expect(list).not.toHaveBeenCalled()
  await expect(prepareSession(services, ask())).rejects.toMatchObject({ code: 'waiting' })
  list.mockResolvedValueOnce({ items: [], nextCursor: undefined } as never)
  expect(await prepareSession(services, ask())).toMatchObject({ session: { status: 'waiting' } })
})

test.each<readonly [SessionState['status'], number, string | undefined, string | undefined]>([
  ['aborted', 3, 'it was aborted', 'it was aborted'],
  ['completed', 3, 'it is completed', undefined],
  ['completed', 0, 'it is completed', undefined],
  ['idle', 0, 'it has no message yet', undefined],
  ['idle', 1, undefined, undefined],
  ['failed', 0, 'it has no message yet', undefined],
  ['interrupted', 2, undefined, undefined],
  ['waiting', 2, undefined, undefined],
  ['running', 2, undefined, undefined],
])('%s with %d messages: %s; with a new one: %s', (status, messageCount, without, withOne) => {
  const session = { status, messageCount } as SessionState
  expect([whyNotResumable(session, false), whyNotResumable(session, true)]).toEqual([
    without,
    withOne,
  ])
})

const prepared = (customState: unknown, isNew = false) =>
  ({ session: { customState }, isNew }) as Parameters<typeof customStateOf>[0]

test('the state is that of the session, with the fields that the caller replaces', async () => {
  const kept = { n: 5, text: 'old' }
  expect(await customStateOf(prepared(kept), ask())).toEqual({ value: kept, isChanged: false })
  // A new session was made with them.
  expect(await customStateOf(prepared(kept, true), ask({ state: { n: 6 } }))).toEqual({
    value: kept,
    isChanged: false,
  })
  expect(await customStateOf(prepared(kept), ask({ state: { n: 6 } }))).toEqual({
    value: { n: 6, text: 'old' },
    isChanged: true,
  })
  for (const none of [undefined, null, ['x'], 'text', 7]) {
    expect(await customStateOf(prepared(none), ask({ state: {} }))).toEqual({
      value: { n: 1 },
      isChanged: true,
    })
  }
})
