// Small looks at a session: its agents, its checkpoints, its messages, its outcome, the ids of its calls.
import { createSubAgentTool, defineAgent, SessionError } from '@helix-agents/core'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { agentsWithin } from '../../src/session/agents-within.ts'
import { findCheckpoint } from '../../src/session/find-checkpoint.ts'
import { hasMessages } from '../../src/session/has-messages.ts'
import { loadOwnSession } from '../../src/session/load-own-session.ts'
import {
  fromStoredOutcome,
  toOwed,
  toRunEnd,
  toStoredOutcome,
  toStoredOutput,
} from '../../src/session/stored-outcome.ts'
import { isSubSessionId, subSessionIdOf, subSessionPrefix } from '../../src/session/sub-session.ts'
import { createHarness, say } from '../harness.ts'

const named = (name: string, ...children: readonly ReturnType<typeof defineAgent>[]) =>
  defineAgent({
    name,
    llmConfig: { model: {} },
    tools: children.map((child) => createSubAgentTool(child, z.object({}))),
  })

test('an agent can come to itself and to all agents below, each once', () => {
  const leaf = named('leaf')
  const [left, right] = [named('left', leaf), named('right', leaf)]
  const root = named('root', left, right)
  expect([...agentsWithin(root)]).toEqual([
    ['root', root],
    ['left', left],
    ['leaf', leaf],
    ['right', right],
  ])
  // Of two with one name it is the first one that counts, with what it can come to.
  const other = named('leaf', named('deep'))
  const mixed = named('root', named('left', leaf), other)
  expect([...agentsWithin(mixed).keys()]).toEqual(['root', 'left', 'leaf'])
  expect(agentsWithin(mixed).get('leaf')).toBe(leaf)
})

test('a checkpoint is the one that is named, or the newest, for which one is asked for', async () => {
  const steps = [say('one', false), say('two', false), say('three')]
  const { executor, store } = createHarness(steps)
  await (await executor.execute(named('a'), 'Go', { sessionId: 's' })).result()
  const { items } = await store.listCheckpoints('s')
  const list = vi.spyOn(store, 'listCheckpoints')
  expect(await findCheckpoint(store, 's', items[2]!.id)).toMatchObject({ stepCount: 1 })
  expect(list).not.toHaveBeenCalled()
  expect(await findCheckpoint(store, 's', undefined)).toMatchObject({ stepCount: 3 })
  expect(list).toHaveBeenCalledExactlyOnceWith('s', { limit: 1 })
  expect(await findCheckpoint(store, 's', 'none')).toBeNull()
  await executor.branch(named('a'), { fromSessionId: 's', sessionId: 'new' })
  expect(await findCheckpoint(store, 'new', undefined)).toBeNull()
})

test.each([
  [[], false],
  [['steer'], true],
  [['followUp'], true],
  [['steer', 'followUp'], true],
] as const)('messages %j wait for a run: %s', async (deliveries, expected) => {
  const stateStore = new InMemoryStateStore()
  await stateStore.createSession({
    sessionId: 's',
    agentType: 'a',
    customState: undefined,
    now: 0,
  })
  for (const delivery of deliveries) {
    await stateStore.queueMessage({
      messageId: delivery,
      sessionId: 's',
      delivery,
      message: { role: 'user', content: 'x' },
      createdAt: 0,
    })
  }
  expect(await hasMessages({ stateStore }, 's')).toBe(expected)
})

test('only a session of its own is one of an agent', async () => {
  const { store: stateStore } = createHarness([])
  const missing = loadOwnSession({ stateStore }, named('a'), 's')
  await expect(missing).rejects.toEqual(
    new SessionError('not-resumable', 's', 'there is no such session'),
  )
  await stateStore.createSession({ sessionId: 's', agentType: 'b', customState: undefined, now: 0 })
  await expect(loadOwnSession({ stateStore }, named('a'), 's')).rejects.toEqual(
    new SessionError('other-agent', 's', 'it belongs to agent b'),
  )
  expect(await loadOwnSession({ stateStore }, named('b'), 's')).toMatchObject({ agentType: 'b' })
})

test('an outcome is stored with what belongs to it, and read as it was', () => {
  const cause = new Error('secret')
  const error = { code: 'x', message: 'y' }
  expect(toStoredOutcome({ status: 'completed', output: { a: undefined, b: 1 } })).toEqual({
    status: 'completed',
    output: { b: 1 },
  })
  const none = toStoredOutcome({ status: 'completed', output: undefined })
  expect(Object.keys(none)).toEqual(['status'])
  const failed = toStoredOutcome({ status: 'failed', error: { ...error, cause } })
  expect(failed).toEqual({ status: 'failed', error })
  expect(failed.error).not.toHaveProperty('cause')
  expect(Object.keys(toStoredOutcome({ status: 'waiting' }))).toEqual(['status'])
  expect(fromStoredOutcome({ status: 'completed', output: 7 })).toEqual({
    status: 'completed',
    output: 7,
  })
  expect(fromStoredOutcome({ status: 'failed', error })).toEqual({ status: 'failed', error })
  expect(fromStoredOutcome({ status: 'failed' })).toEqual({
    status: 'failed',
    error: { code: 'internal', message: 'the run failed' },
  })
  expect(Object.keys(fromStoredOutcome({ status: 'aborted' }))).toEqual(['status'])
})

const end = (status: 'interrupted' | 'aborted', isShutDown: boolean, owed: string[] = []) =>
  toRunEnd({ control: { isShutDown } } as never, { status }, owed)

test('the end of a run says what is owed, and that a shutdown has interrupted it', () => {
  expect(Object.keys(end('interrupted', false))).toEqual(['status'])
  expect(end('interrupted', true)).toEqual({
    status: 'interrupted',
    error: { code: 'shutdown', message: 'the process was shut down' },
  })
  expect(Object.keys(end('aborted', true))).toEqual(['status'])
  expect(end('aborted', false, ['box'])).toEqual({ status: 'aborted', owed: ['box'] })
  expect([toOwed([]), toOwed(['a'])]).toEqual([{}, { owed: ['a'] }])
  expect(Object.keys(toOwed([]))).toEqual([])
})

test('an output is stored as plain JSON, as far as it is', () => {
  const date = new Date(0)
  expect(toStoredOutput(undefined)).toBeUndefined()
  expect(toStoredOutput(null)).toBeNull()
  expect(toStoredOutput({ at: date, list: [1, 'x'] })).toEqual({
    at: date.toISOString(),
    list: [1, 'x'],
  })
  expect(toStoredOutput(() => {})).toBeUndefined()
})

test('the session of a sub-agent has the number of the next step and the place of its call', () => {
  expect(subSessionIdOf('s', 0, 0)).toBe('s/s1-0')
  expect(subSessionIdOf('s/s1-0', 4, 2)).toBe('s/s1-0/s5-2')
  expect(subSessionPrefix('s')).toBe('s/')
  const within = ['s/s1-0', 's/s12-34', 's/s1-0/s5-2']
  expect(within.map((id) => isSubSessionId(id, 's'))).toEqual([true, true, true])
  const others = [
    's',
    's/import',
    's/s1-0/import',
    's/s1-0x',
    'xs/s1-0',
    's2/s1-0',
    't/s1-0',
    's/s-0',
  ]
  expect(others.map((id) => isSubSessionId(id, 's'))).toEqual(others.map(() => false))
})
