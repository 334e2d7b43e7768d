import { createSubAgentTool, defineAgent, defineTool } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { note, resultsOf } from './cut-off-step.ts'
import { calls, createHarness, gate, say } from './harness.ts'

async function paused() {
  const hold = gate()
  const reached = gate()
  const wait = defineTool({
    name: 'wait',
    description: '',
    inputSchema: z.object({}),
    execute: () => (reached.open(), hold.opened),
  })
  const child = defineAgent({ name: 'child', llmConfig: { model: {} }, tools: [wait] })
  const parent = defineAgent({
    name: 'parent',
    llmConfig: { model: {} },
    tools: [createSubAgentTool(child, z.object({}))],
  })
  const harness = createHarness([calls(['subagent__child']), calls(['wait']), say('on we go')])
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 's' })
  await reached.opened
  await handle.interrupt()
  hold.open()
  expect((await handle.result()).status).toBe('interrupted')
  const statusOfChild = async () => (await harness.store.loadSession('s/s1-0'))?.status
  expect(await statusOfChild()).toBe('interrupted')
  return { harness, parent, handle, statusOfChild }
}

describe('a paused sub-agent', () => {
  test('ends with its parent', async () => {
    const { handle, statusOfChild } = await paused()
    await handle.abort()
    expect(await statusOfChild()).toBe('aborted')
  })

  test('ends when the user moves on', async () => {
    const { harness, parent, statusOfChild } = await paused()
    const next = await harness.executor.execute(parent, 'y', { sessionId: 's' })
    expect((await next.result()).output).toBe('on we go')
    expect(await statusOfChild()).toBe('aborted')
  })

  test('goes on before its parent hears a message', async () => {
    const { harness, parent } = await paused()
    const next = harness.next([say('child is done'), say('heard')])
    const handle = await next.executor.resume(parent, 's', { message: 'Hurry' })
    expect((await handle.result()).output).toBe('heard')
    const { messages } = await harness.store.loadMessages('s')
    expect(messages.map(({ role }) => role).join(' ')).toBe('user assistant tool user assistant')
  })

  test('that is paused again keeps its parent from hearing, which is said', async () => {
    const { harness, parent } = await paused()
    const next = harness.next([
      async () => {
        await next.executor.getHandle(parent, 's').then((live) => live!.interrupt())
        return say('not yet', false)
      },
      say('child is done'),
      say('end'),
    ])
    const unheard = next.executor.resume(parent, 's', { message: 'Hurry' })
    await expect(unheard).rejects.toMatchObject({ code: 'not-resumable' })
    expect((await harness.store.loadMessages('s')).total).toBe(2)
    expect((await (await next.executor.resume(parent, 's')).result()).output).toBe('end')
  })

  test('is not taken for the one of a step that is played again', async () => {
    const child = defineAgent({ name: 'child', llmConfig: { model: {} } })
    const parent = defineAgent({
      name: 'parent',
      llmConfig: { model: {} },
      tools: [note('look', { readOnly: true }), createSubAgentTool(child, z.object({}))],
    })
    const ask = calls(['subagent__child'])
    const harness = createHarness([calls(['look']), ask, say('first'), say('end')])
    await (await harness.executor.execute(parent, 'x', { sessionId: 's' })).result()
    const { items } = await harness.store.listCheckpoints('s')
    await harness.executor.restoreCheckpoint(parent, 's', items.at(-1)!.id)
    const next = harness.next([ask, say('second'), say('end')])
    await (await next.executor.resume(parent, 's')).result()
    expect(await resultsOf(next)).toEqual(['look ran', 'second'])
  })
})
