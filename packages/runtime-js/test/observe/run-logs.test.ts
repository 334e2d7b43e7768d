// What operators read of a run whose store, streams or model fail: which session and run, and why.
import { defineAgent, type MockStep } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import type { AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test, vi } from 'vitest'
import { calls, createHarness, gated, say, settle } from '../harness.ts'

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  tools: [gated],
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})
const write = calls(['workspace__box__write_file', { path: '/a', content: 'x' }])
const err = new Error('the disk is full')
const said = [say('done')]

function parts() {
  const [clock, store, streams] = [
    new ManualClock(),
    new InMemoryStateStore(),
    new InMemoryStreamManager(),
  ]
  const provider = new InMemoryWorkspaceProvider()
  return { clock, store, streams, provider }
}
type Parts = ReturnType<typeof parts>

interface Case {
  readonly fail: (parts: Parts, handle: () => AgentHandle) => void
  readonly steps?: readonly MockStep[]
  readonly options?: object
  readonly then?: (executor: JSAgentExecutor, parts: Parts, handle: AgentHandle) => Promise<unknown>
}

/** The lines of a run with this message; ids of runs are replaced by the word `run`. */
async function linesOf(message: string, { fail, steps = said, options, then }: Case) {
  const made = parts()
  const { clock, store, streams, provider } = made
  const live: { handle?: AgentHandle } = {}
  fail(made, () => live.handle!)
  const harness = createHarness(steps, {
    clock,
    store,
    streams,
    workspaceProviders: [provider],
    ...options,
  })
  const handle = await harness.executor.execute(agent, 'Go', {
    sessionId: 's',
    keepWorkspaces: false,
  })
  live.handle = handle
  await settle()
  await clock.advance(5000)
  await then?.(harness.executor, made, handle)
  await handle.result()
  await settle()
  const { runId } = handle
  return harness.logger.with(message).map(({ level, fields }) => ({
    level,
    fields: { ...fields, ...('runId' in fields && fields['runId'] === runId && { runId: 'run' }) },
  }))
}

const rejecting =
  (part: 'store' | 'streams', method: string) =>
  (made: Parts): void =>
    void Reflect.set(made[part], method, () => Promise.reject(err))
const ofRun = { sessionId: 's', runId: 'run' }

test.each<readonly [string, 'warn' | 'error', object, Case]>([
  ['run failed', 'error', { err, ...ofRun }, { fail: rejecting('store', 'commitStep') }],
  ['end of run not stored', 'error', { err, ...ofRun }, { fail: rejecting('store', 'endRun') }],
  [
    'end of stream not written',
    'error',
    { err, sessionId: 's' },
    { fail: rejecting('streams', 'endRun') },
  ],
  [
    'open requests not loaded',
    'error',
    { err, sessionId: 's' },
    { fail: rejecting('store', 'listRequests'), steps: [calls(['gated'])] },
  ],
  [
    'signals of session not loaded',
    'warn',
    { err, ...ofRun },
    {
      fail: ({ store }) => void vi.spyOn(store, 'loadSignals').mockRejectedValueOnce(err),
      steps: [
        () => settle().then(() => new Promise((resolve) => setTimeout(resolve, 5, say('x')))),
      ],
    },
  ],
  [
    'session not continued',
    'error',
    { err, sessionId: 's', status: 'completed' },
    { fail: rejecting('store', 'loadSignals') },
  ],
  [
    'model call failed',
    'error',
    { err, sessionId: 's' },
    { fail: () => {}, steps: [() => Promise.reject(err)] },
  ],
  [
    'stream write failed',
    'error',
    { err, agent: 'a' },
    {
      fail: ({ streams }) => {
        vi.spyOn(streams, 'startRun').mockResolvedValue({ write: () => Promise.reject(err) })
      },
    },
  ],
  [
    'session not aborted',
    'error',
    { err, ...ofRun },
    {
      // It waits for an answer, and is aborted while that is stored.
      fail: ({ store }, handle) => {
        const endRun = store.endRun.bind(store)
        store.endRun = async (end) => {
          await handle().abort()
          store.loadSession = () => Promise.reject(err)
          return endRun(end)
        }
      },
      steps: [() => settle().then(() => calls(['gated']))],
    },
  ],
])('%s: %s, with %o', async (message, level, fields, given) => {
  expect(await linesOf(message, given)).toEqual([{ level, fields }])
})

test('a lease that could not be confirmed leaves workspaces open, which is logged', async () => {
  const made = parts()
  const { clock, store, provider } = made
  vi.spyOn(store, 'renewRun').mockRejectedValue(err)
  const late: MockStep = () => clock.advance(3000).then(() => say('done'))
  const options = { clock, store, workspaceProviders: [provider], leaseMs: 3000 }
  const { executor, logger } = createHarness([write, late], options)
  const handle = await executor.execute(agent, 'Go', { sessionId: 's', keepWorkspaces: false })
  await handle.result()
  const fields = { err, sessionId: 's', runId: handle.runId }
  expect(logger.with('workspaces are left open')).toMatchObject([{ level: 'warn', fields }])
  expect(logger.with('lease renewal failed')[0]).toEqual({
    level: 'warn',
    message: 'lease renewal failed',
    fields,
  })
})

test('a start that fails, and whose lease cannot be given back, is logged', async () => {
  const { clock, store, streams } = parts()
  vi.spyOn(streams, 'startRun').mockRejectedValue(new Error('no stream'))
  vi.spyOn(store, 'endRun').mockRejectedValue(err)
  const { executor, logger } = createHarness(said, { clock, store, streams })
  const plain = defineAgent({ name: 'a', llmConfig: { model: {} } })
  await expect(executor.execute(plain, 'Go', { sessionId: 's' })).rejects.toThrow('no stream')
  const { runId } = (await store.loadSession('s'))!
  expect(logger.lines).toEqual([
    { level: 'warn', message: 'lease release failed', fields: { err, sessionId: 's', runId } },
  ])
})

test('a reader of a stream that nobody ends is logged with its session', async () => {
  const { clock, store, streams } = parts()
  const plain = defineAgent({ name: 'a', llmConfig: { model: {} } })
  const harness = createHarness(said, { clock, store, streams })
  await (await harness.executor.execute(plain, 'Go', { sessionId: 's' })).result()
  await clock.advance(5000)
  const end = vi.spyOn(streams, 'endRun').mockRejectedValue(err)
  const next = harness.next([])
  const handle = await next.executor.getHandle(plain, 's')
  for await (const _ of handle!.stream()) break
  expect(end).toHaveBeenCalled()
  expect(next.logger.with('abandoned stream not ended')).toEqual([
    { level: 'warn', message: 'abandoned stream not ended', fields: { err, sessionId: 's' } },
  ])
})
