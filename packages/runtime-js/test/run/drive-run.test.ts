// How a run ends when something around it fails: its workspaces, its stream, its result and the log.
import { defineAgent, ModelError, StateStoreError } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import { asked, died, note } from '../cut-off-step.ts'
import { agentWith, calls, createHarness, gated, say, settle, storedMessages } from '../harness.ts'

const plain = agentWith()
const taken = () => new StateStoreError('conflict', 's', 'another run has it')
const gone = new Error('the disk is gone')

test('what a resumed step tells is on the stream before its end is, also when it waits', async () => {
  const harness = await died(asked('look', 'gated'))
  const { streams } = harness
  const events: string[] = []
  const resumeRun = streams.resumeRun.bind(streams)
  streams.resumeRun = async (...given) => {
    const writer = await resumeRun(...given)
    return {
      write: async (chunk) => {
        await settle()
        await writer.write(chunk)
        events.push(chunk.type)
      },
    }
  }
  const endRun = streams.endRun.bind(streams)
  streams.endRun = (...given) => (events.push('end'), endRun(...given))
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [note('look', { readOnly: true }), gated],
  })
  expect((await (await harness.executor.resume(agent, 's')).result()).status).toBe('waiting')
  expect(events).toContain('tool_end')
  expect(events).toContain('approval_request')
  expect(events.at(-1)).toBe('end')
})

test('a run that loses its session does not end the stream, whatever its end says', async () => {
  const { executor, store, streams } = createHarness([say('done')])
  store.commitStep = () => Promise.reject(taken())
  store.endRun = () => Promise.reject(gone)
  const endRun = vi.spyOn(streams, 'endRun')
  const handle = await executor.execute(plain, 'Go', { sessionId: 's' })
  expect((await handle.result()).status).toBe('failed')
  expect(endRun).not.toHaveBeenCalled()
})

test('nor does one whose end finds that it is lost', async () => {
  const { executor, store, streams, logger } = createHarness([say('done')])
  store.endRun = () => Promise.reject(taken())
  const endRun = vi.spyOn(streams, 'endRun')
  const handle = await executor.execute(plain, 'Go', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'failed', error: { code: 'conflict' } })
  expect(endRun).not.toHaveBeenCalled()
  const fields = { err: taken(), sessionId: 's', runId: handle.runId }
  expect(logger.lines).toEqual([{ level: 'error', message: 'end of run not stored', fields }])
})

test('an end that is not stored is the result, unless the run had failed before', async () => {
  const error = new ModelError('overloaded')
  const failed = { type: 'error', error, shouldStop: true } as const
  const resultOf = async (step: typeof failed | ReturnType<typeof say>, cause: Error) => {
    const { executor, store } = createHarness([step])
    store.endRun = () => Promise.reject(cause)
    return (await executor.execute(plain, 'Go')).result()
  }
  expect(await resultOf(failed, gone)).toMatchObject({ error: { code: 'overloaded' } })
  expect(await resultOf(failed, taken())).toMatchObject({ error: { code: 'conflict' } })
  expect(await resultOf(say('done'), gone)).toMatchObject({
    status: 'failed',
    error: {
      code: 'internal',
      message: 'the run failed for a reason that is not shown here',
      cause: gone,
    },
  })
})

test('what a store throws in a run ends it, and is the cause for the operator', async () => {
  const { executor, store, logger } = createHarness([say('done')])
  const err = new StateStoreError('corrupt', 's', 'it cannot be read')
  store.commitStep = () => Promise.reject(err)
  const handle = await executor.execute(plain, 'Go', { sessionId: 's' })
  const error = { code: 'corrupt', message: err.message, cause: err }
  expect(await handle.result()).toMatchObject({ status: 'failed', error, stepCount: 0 })
  const fields = { err, sessionId: 's', runId: handle.runId }
  expect(logger.lines).toEqual([{ level: 'error', message: 'run failed', fields }])
})

test('a stream that cannot be ended is logged, and the run has ended', async () => {
  const { executor, streams, logger } = createHarness([say('done')])
  streams.endRun = () => Promise.reject(gone)
  const handle = await executor.execute(plain, 'Go', { sessionId: 's' })
  expect((await handle.result()).status).toBe('completed')
  const message = 'end of stream not written'
  expect(logger.lines).toEqual([{ level: 'error', message, fields: { err: gone, sessionId: 's' } }])
})

test('a session waits also when its questions cannot be listed now', async () => {
  const { executor, store, logger } = createHarness([calls(['gated'])])
  store.listRequests = () => Promise.reject(gone)
  const handle = await executor.execute(agentWith(gated), 'Go', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'waiting', requests: [] })
  expect(await store.loadSession('s')).toMatchObject({ status: 'waiting' })
  const message = 'open requests not loaded'
  expect(logger.lines).toEqual([{ level: 'error', message, fields: { err: gone, sessionId: 's' } }])
})

/** A run with a workspace, and what its session lets go of at its end. */
function withWorkspace(status: 'completed' | 'failed', keepWorkspaces = false) {
  const provider = new InMemoryWorkspaceProvider()
  const events: string[] = []
  const open = provider.open.bind(provider)
  provider.open = async (...given) => {
    const opened = await open(...given)
    const [close, detach] = [opened.ws.close.bind(opened.ws), opened.ws.detach?.bind(opened.ws)]
    opened.ws.close = async () => (events.push('close'), close())
    opened.ws.detach = async () => (events.push('detach'), detach?.())
    return opened
  }
  const [clock, store] = [new ManualClock(), new InMemoryStateStore()]
  const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, workspaces: { box } })
  const end = status === 'completed' ? say('done') : () => Promise.reject(gone)
  const harness = createHarness([calls(['workspace__box__ls', {}]), end], {
    workspaceProviders: [provider],
    clock,
    store,
    leaseMs: 1000,
  })
  const start = () => harness.executor.execute(agent, 'Go', { sessionId: 's', keepWorkspaces })
  return { ...harness, clock, events, start }
}

test.each([
  ['completed', false, 'close'],
  ['completed', true, 'detach'],
  ['failed', false, 'detach'],
] as const)('a run that is %s, to keep its workspaces: %s, %ss them', async (status, keep, how) => {
  const { start, events } = withWorkspace(status, keep)
  expect((await (await start()).result()).status).toBe(status)
  expect(events[0]).toBe(how)
})

test('workspaces are left open when nobody knows whose the session is', async () => {
  const { start, events, logger, store, clock } = withWorkspace('completed')
  store.renewRun = () => Promise.reject(gone)
  const commitStep = store.commitStep.bind(store)
  store.commitStep = async (step) => {
    await commitStep(step)
    // The lease is over before the workspaces are closed.
    if (step.outcome !== undefined) await clock.advance(1000)
  }
  const handle = await start()
  expect((await handle.result()).status).toBe('completed')
  expect(events).toEqual(['detach'])
  const fields = { err: gone, sessionId: 's', runId: handle.runId }
  expect(logger.with('workspaces are left open')).toEqual([
    { level: 'warn', message: 'workspaces are left open', fields },
  ])
})

test('a message that comes with a resumed step stands behind its results', async () => {
  const usage = { inputTokens: 1, outputTokens: 2 }
  const harness = await died(asked('look'))
  const next = harness.next([({ messages }) => ({ ...say(`${messages.length}`), usage })])
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    tools: [note('look', { readOnly: true })],
  })
  const handle = await next.executor.resume(agent, 's', { message: 'And?' })
  expect(await handle.result()).toMatchObject({ output: '4', usage: { totalTokens: 3 } })
  const roles = (await storedMessages(next)).map(({ role }) => role)
  expect(roles).toEqual(['user', 'assistant', 'tool', 'user', 'assistant'])
})

test('a turn without its messages stands as the session does: another process had them', async () => {
  const store = new InMemoryStateStore()
  const { executor } = createHarness([say('done'), say('one'), say('two')], { store })
  await (await executor.execute(plain, 'Go', { sessionId: 's' })).result()
  await executor.branch(plain, { fromSessionId: 's', sessionId: 'new' })
  vi.spyOn(store, 'listQueuedMessages').mockResolvedValueOnce([])
  const { handle } = await executor.send(plain, 's', 'again')
  expect(await handle?.result()).toMatchObject({ status: 'completed', output: 'done' })
  await settle()
  vi.spyOn(store, 'listQueuedMessages').mockResolvedValueOnce([])
  const other = await executor.send(plain, 'new', 'again')
  const result = await other.handle?.result()
  expect(result).toMatchObject({ status: 'interrupted' })
  expect(result).not.toHaveProperty('output')
})
