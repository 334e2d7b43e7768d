// A session that its user has paused waits for its user; one that the end of a process has paused
// goes on by itself. What is stored tells them apart.
import { createSubAgentTool, defineAgent } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { RunControl } from '../src/run/run-control.ts'
import { calls, createHarness, gate, say, settle } from './harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })

async function running() {
  const [reached, hold] = [gate(), gate()]
  const harness = createHarness([
    () => {
      reached.open()
      return hold.opened.then(() => say('one step', false))
    },
    say('done'),
  ])
  const handle = await harness.executor.execute(agent, 'x', { sessionId: 's' })
  await reached.opened
  return { harness, handle, hold }
}

test('a run that its user paused is stored without a reason, and is not recovered', async () => {
  const { harness, handle, hold } = await running()
  await handle.interrupt()
  hold.open()
  await handle.result()
  const session = await harness.store.loadSession('s')
  expect(session).toMatchObject({ status: 'interrupted' })
  expect(session?.error).toBeUndefined()
  const recovery = await harness.next([say('done')]).executor.recover(agent, 's')
  expect(recovery).toEqual({ outcome: 'not-needed', status: 'interrupted' })
})

test('a run that a shutdown paused is stored as such, and is recovered', async () => {
  const { harness, hold } = await running()
  const down = harness.executor.shutdown()
  await settle()
  hold.open()
  await down
  expect(await harness.store.loadSession('s')).toMatchObject({
    status: 'interrupted',
    error: { code: 'shutdown' },
  })
  const recovery = await harness.next([say('done')]).executor.recover(agent, 's')
  expect(recovery.outcome).toBe('resumed')
  if (recovery.outcome === 'resumed') await recovery.handle.result()
})

test('a sub-agent is paused for the reason of its parent', async () => {
  for (const isShutdown of [true, false]) {
    const [reached, hold] = [gate(), gate()]
    const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
    const tools = [createSubAgentTool(child, z.object({}))]
    const parent = defineAgent({ name: 'parent', llmConfig: { model: {} }, tools })
    const waiting = () => (reached.open(), hold.opened.then(() => say('one step', false)))
    const harness = createHarness([calls(['subagent__child']), waiting])
    const handle = await harness.executor.execute(parent, 'x', { sessionId: 's' })
    await reached.opened
    const paused = isShutdown ? harness.executor.shutdown() : handle.interrupt()
    await settle()
    hold.open()
    await Promise.all([paused, handle.result()])
    const session = await harness.store.loadSession('s/s1-0')
    expect(session?.status).toBe('interrupted')
    expect(session?.error?.code).toBe(isShutdown ? 'shutdown' : undefined)
  }
})

describe('a control', () => {
  test('knows a shutdown from other ways to stop', () => {
    const causes = ['aborted', 'max-duration', 'lease-lost', 'shutdown'] as const
    const known = causes.map((cause) => {
      const control = new RunControl()
      expect(control.isShutDown).toBe(false)
      control.stop(cause)
      return control.isShutDown
    })
    expect(known).toEqual([false, false, false, true])
    const control = new RunControl()
    control.interrupt()
    expect(control.isShutDown).toBe(false)
    control.shutDown()
    expect(control).toMatchObject({ isShutDown: true, interrupted: true, cause: undefined })
  })
})
