// What a run has begun has ended with it, and it does one thing after the other.
import { defineAgent, type MockStep, ModelError, type StepResult } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import type { AgentHandle } from '@helix-agents/runtime-js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { calls, say } from '../harness.ts'
import { agent, clean, endOf, inChild, played, subAgent, world, write } from './world.ts'

const options = { sessionId: 's', keepWorkspaces: false }
const resultOf = async (handle: AgentHandle | undefined) => handle?.result()

test.each<readonly [string, readonly MockStep[], object]>([
  ['opens its workspaces first', [write('1'), say('end')], { workspaceOpenStrategy: 'eager' }],
  ['has a sub-agent', [write('1'), ...subAgent, write('2'), say('end')], {}],
  ['makes several calls', [calls(['plain'], ['plain']), calls(['gated'])], {}],
  ['fails', [() => Promise.reject(new Error('no'))], {}],
])('a run that %s does one thing after the other', async (_, steps, more) => {
  const parts = world()
  const executor = parts.executorOf(steps, more)
  const run = async () => resultOf(await executor.execute(agent, 'x', options))
  expect(await endOf(parts, run)).toEqual(clean)
})

const strict = defineAgent({ name: 'a', llmConfig: { model: {} }, outputSchema: z.object({}) })
const usage = { inputTokens: 1, outputTokens: 1 }
const failing = (shouldStop: boolean): StepResult => ({
  type: 'error',
  error: new ModelError('overloaded'),
  shouldStop,
  usage,
})

test.each<readonly [string, readonly MockStep[]]>([
  ['is reminded of its output', [say('one'), say('two'), say('three')]],
  ['gives its output as such', [{ type: 'structured_output', output: {} }]],
  ['asks its model again, and fails', [failing(false), failing(true)]],
])('a run that %s does too', async (_, steps) => {
  const parts = world()
  const executor = parts.executorOf(steps)
  const run = async () => resultOf(await executor.execute(strict, 'x', options))
  expect(await endOf(parts, run)).toEqual(clean)
})

test('a run that goes on after an interruption, and after an answer, does too', async () => {
  const parts = await played((interrupt) => [
    calls(['subagent__child']),
    () => (interrupt(), inChild),
  ])
  const next = parts.executorOf([say('child'), calls(['gated']), say('end')])
  const go = async () => {
    await resultOf(await next.resume(agent, 's'))
    const { items } = await next.listRequests({ sessionId: 's' })
    const answer = { decision: 'approve' } as const
    const { handle } = await next.respond(agent, 's', items[0]!.requestId, answer)
    await resultOf(handle)
  }
  expect(await endOf(parts, go)).toEqual(clean)
  expect((await parts.store.loadSession('s'))?.output).toBe('end')
})

test('a run that a message starts does too', async () => {
  const parts = await played()
  const next = parts.executorOf([say('more')])
  const go = async () => resultOf((await next.send(agent, 's', 'on')).handle)
  expect(await endOf(parts, go)).toEqual(clean)
})

test('a run that cannot start has given back its session when it says so', async () => {
  const parts = world()
  parts.streams.startRun = () => Promise.reject(new Error('no'))
  const executor = parts.executorOf([say('end')])
  const start = () => executor.execute(agent, 'x', options)
  expect(await endOf(parts, start)).toEqual({ ...clean, end: 'no' })
  expect((await parts.store.loadSession('s'))?.leaseUntil).toBeUndefined()
})

test('who waits for a run of another process has let go of its stream at the end', async () => {
  const parts = world()
  const clock = new ManualClock(parts.clock.now())
  const executor = parts.executorOf([write('1'), say('end')])
  const handle = await executor.execute(agent, 'x', options)
  const other = parts.executorOf([], { clock })
  const waiting = other.getHandle(agent, 's').then((found) => resultOf(found!))
  await handle.result()
  expect(await waiting).toMatchObject({ status: 'completed', output: 'end' })
  expect(clock.pendingTimers).toBe(0)
  expect(parts.pending.names).toEqual([])
})
