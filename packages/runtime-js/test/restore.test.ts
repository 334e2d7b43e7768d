import { createSubAgentTool, defineAgent, defineTool } from '@helix-agents/core'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { calls, createHarness, gate, say, storedMessages, textOfResult } from './harness.ts'

const count = defineTool({
  name: 'count',
  description: '',
  inputSchema: z.object({}),
  execute: (_, context) => context.updateState<{ n?: number }>((s) => void (s.n = (s.n ?? 0) + 1)),
})
const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  tools: [count],
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const write = calls(['workspace__box__write_file', { path: '/a', content: 'kept' }])

async function played() {
  const workspaceProviders = [new InMemoryWorkspaceProvider()]
  const harness = createHarness([write, calls(['count']), calls(['count']), say('end')], {
    workspaceProviders,
  })
  const options = { sessionId: 's', keepWorkspaces: true }
  const handle = await harness.executor.execute(agent, 'x', options)
  await handle.result()
  const { items } = await harness.store.listCheckpoints('s')
  return { harness, handle, checkpoints: items.toReversed() }
}

describe('a restored checkpoint', () => {
  test('takes the session back, and resume goes on from there with its files', async () => {
    const { harness, checkpoints } = await played()
    const handle = await harness.executor.restoreCheckpoint(agent, 's', checkpoints[1]!.id)
    expect(await handle.result()).toMatchObject({ status: 'interrupted', stepCount: 2 })
    expect(await harness.store.loadSession('s')).toMatchObject({ customState: { n: 1 } })
    expect(await harness.executor.canResume(agent, 's')).toMatchObject({ canResume: true })
    const read = calls(['workspace__box__read_file', { path: '/a' }])
    const next = harness.next([read, say('again')])
    const resumed = await next.executor.resume(agent, 's')
    expect(await resumed.result()).toMatchObject({ output: 'again', stepCount: 4 })
    const results = (await storedMessages(next)).filter(({ role }) => role === 'tool')
    expect(results).toHaveLength(3)
    expect(textOfResult(results.at(-1))).toContain('kept')
  })

  test('is told to the readers of the stream', async () => {
    const { harness, handle, checkpoints } = await played()
    const seen: number[] = []
    for await (const chunk of handle.stream()) seen.push(chunk.sequence)
    await harness.executor.restoreCheckpoint(agent, 's', checkpoints[0]!.id)
    const told: string[] = []
    for await (const chunk of handle.stream({ fromSequence: seen.at(-1)! + 1 })) {
      told.push(chunk.type)
      expect(chunk.sequence).toBeGreaterThan(seen.at(-1)!)
    }
    expect(told).toEqual(['stream_resync'])
    const fresh: string[] = []
    for await (const chunk of handle.stream()) fresh.push(chunk.type)
    expect(fresh).toEqual([])
    await (await harness.next([say('on')]).executor.resume(agent, 's')).result()
    for await (const chunk of handle.stream()) fresh.push(chunk.type)
    expect(fresh).toEqual(['text_delta', 'output'])
  })

  test('stands when the stream cannot be told', async () => {
    const { harness, checkpoints } = await played()
    harness.streams.startRun = () => Promise.reject(new Error('no streams today'))
    await harness.executor.restoreCheckpoint(agent, 's', checkpoints[0]!.id)
    expect(await harness.store.loadSession('s')).toMatchObject({ stepCount: 1 })
    expect(harness.logger.with('stream readers not notified of restored checkpoint')).toHaveLength(
      1,
    )
  })

  test('may be restored again, and an earlier one after it', async () => {
    const { harness, checkpoints } = await played()
    for (const index of [1, 1, 0]) {
      await harness.executor.restoreCheckpoint(agent, 's', checkpoints[index]!.id)
    }
    expect(await harness.store.loadSession('s')).toMatchObject({ stepCount: 1, messageCount: 3 })
    const later = harness.executor.restoreCheckpoint(agent, 's', checkpoints[1]!.id)
    await expect(later).rejects.toMatchObject({ code: 'not-resumable' })
  })

  test('must be one of a session of the agent that does not run', async () => {
    const { harness, checkpoints } = await played()
    const id = checkpoints[0]!.id
    const { executor } = harness
    const other = defineAgent({ name: 'b', llmConfig: { model: {} } })
    const failing = [
      [() => executor.restoreCheckpoint(other, 's', id), 'other-agent'],
      [() => executor.restoreCheckpoint(agent, 'unknown', id), 'not-resumable'],
      [() => executor.restoreCheckpoint(agent, 's', 'unknown'), 'not-resumable'],
    ] as const
    for (const [restore, code] of failing) await expect(restore()).rejects.toMatchObject({ code })
    const running = harness.next([() => new Promise<never>(() => {})])
    await running.executor.execute(agent, 'y', { sessionId: 's' })
    const code = { code: 'already-running' }
    for (const held of [running, harness]) {
      await expect(held.executor.restoreCheckpoint(agent, 's', id)).rejects.toMatchObject(code)
    }
    expect(await harness.store.loadSession('s')).toMatchObject({ stepCount: 4, messageCount: 9 })
  })
})

test('a restored checkpoint ends the sub-agents that its session was waiting for', async () => {
  const [hold, reached] = [gate(), gate()]
  const wait = defineTool({
    name: 'wait',
    description: '',
    inputSchema: z.object({}),
    execute: () => (reached.open(), hold.opened),
  })
  const files = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const child = defineAgent({
    name: 'child',
    llmConfig: { model: {} },
    tools: [wait],
    workspaces: { own: files },
  })
  const parent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [count, createSubAgentTool(child, z.object({}))],
  })
  const childStep = calls(['workspace__own__write_file', { path: '/a', content: 'x' }], ['wait'])
  const harness = createHarness([calls(['count']), calls(['subagent__child']), childStep], {
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 's' })
  await reached.opened
  await handle.interrupt()
  hold.open()
  expect((await handle.result()).status).toBe('interrupted')
  expect(await harness.store.loadSession('s/s2-0')).toMatchObject({
    status: 'interrupted',
    workspaceRefs: { own: expect.anything() },
  })
  const [checkpoint] = (await harness.store.listCheckpoints('s')).items
  await harness.executor.restoreCheckpoint(parent, 's', checkpoint!.id)
  expect(await harness.store.loadSession('s/s2-0')).toMatchObject({
    status: 'aborted',
    workspaceRefs: {},
  })
  const next = harness.next([calls(['subagent__child']), say('child is done'), say('end')])
  const resumed = await next.executor.resume(parent, 's')
  expect(await resumed.result()).toMatchObject({ status: 'completed', output: 'end' })
  expect(await harness.store.loadSession('s/s2-0')).toMatchObject({ output: 'child is done' })
})

test('an interrupt in mid-step stores what the other calls have changed', async () => {
  const [hold, reached] = [gate(), gate()]
  const wait = defineTool({
    name: 'wait',
    description: '',
    inputSchema: z.object({}),
    execute: () => (reached.open(), hold.opened),
  })
  const child = defineAgent({ name: 'child', llmConfig: { model: {} }, tools: [wait] })
  const parent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [count, createSubAgentTool(child, z.object({}))],
    workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
  })
  const step = calls(
    ['subagent__child'],
    ['count'],
    ['workspace__box__write_file', { path: '/a', content: 'x' }],
  )
  const harness = createHarness([step, calls(['wait'])], {
    workspaceProviders: [new InMemoryWorkspaceProvider()],
  })
  const handle = await harness.executor.execute(parent, 'x', { sessionId: 's' })
  await reached.opened
  await handle.interrupt()
  hold.open()
  expect((await handle.result()).status).toBe('interrupted')
  const head = await harness.store.loadSession('s')
  expect(head).toMatchObject({ customState: { n: 1 }, stepCount: 0 })
  expect(Object.keys(head!.fileLedgers)).toEqual(['box'])
  const journal = await harness.store.loadJournal('s')
  expect(journal.map(({ result }) => result !== undefined)).toEqual([false, true, true])
  const next = harness.next([say('child is done'), say('end')])
  expect((await (await next.executor.resume(parent, 's')).result()).output).toBe('end')
  expect(await harness.store.loadSession('s')).toMatchObject({ customState: { n: 1 } })
})
