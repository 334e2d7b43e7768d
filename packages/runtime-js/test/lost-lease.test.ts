import { type Clock, defineAgent, defineTool, type MockStep, noopLogger } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  calls,
  createHarness,
  gate,
  type Harness,
  say,
  settle,
  storedMessages,
  typesOf,
} from './harness.ts'

const boxed = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
})

describe('a machine that was asleep', () => {
  const LEASE_MS = 3_000
  const ran: string[] = []
  const change = defineTool({
    name: 'change',
    description: '',
    inputSchema: z.object({ wake: z.number().default(0) }),
    execute: ({ wake }, context) => {
      ran.push(context.toolCallId)
      // The clock of the machine jumps, and no timer has fired yet.
      if (wake > 0) jump(wake)
      return 'changed'
    },
  })
  const sleeper = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [change] })
  let now = 1_000_000
  const jump = (ms: number): void => void (now += ms)
  // A clock without timers: what fires late, fires after what is measured here.
  const asleep: Clock = {
    now: () => now,
    setTimer: () => () => {},
    sleep: () => new Promise(() => {}),
  }

  async function slept(takeOver: (harness: Harness) => Promise<void>, steps: readonly MockStep[]) {
    ran.length = 0
    const harness = createHarness(
      [
        async () => {
          await settle()
          jump(2 * LEASE_MS)
          await takeOver(harness)
          return calls(['change'])
        },
        ...steps,
      ],
      { clock: asleep, leaseMs: LEASE_MS },
    )
    const handle = await harness.executor.execute(sleeper, 'x', { sessionId: 's' })
    return { harness, handle, result: await handle.result() }
  }
  const other = { sessionId: 's', runId: 'other' }
  const resolveOptions = {
    workspace: 'box',
    session: { sessionId: 's', agentType: 'a' },
    capabilities: boxed.workspaces['box'].capabilities,
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: asleep,
  }

  test('goes on when nobody took its session', async () => {
    const { result } = await slept(async () => {}, [say('done')])
    expect([result.status, ran]).toEqual(['completed', ['a']])
  })

  test('runs no tool once another process has its session', async () => {
    const { harness, result } = await slept(
      async ({ store }) => void (await store.beginRun({ ...other, leaseMs: LEASE_MS, now })),
      [],
    )
    expect(result).toMatchObject({ status: 'failed', error: { code: 'conflict' } })
    expect(ran).toEqual([])
    expect(await harness.store.loadSession('s')).toMatchObject({
      status: 'running',
      runId: 'other',
    })
  })

  test('runs no further tool of a step once another process has its session', async () => {
    ran.length = 0
    let isTaken = false
    const store = new InMemoryStateStore()
    const note = store.completeToolCall.bind(store)
    // The other process comes right after the result of the first call was stored.
    store.completeToolCall = async (write) => {
      await note(write)
      if (isTaken) return
      isTaken = true
      await store.beginRun({ ...other, leaseMs: LEASE_MS, now })
    }
    const harness = createHarness(
      [calls(['change', { wake: 2 * LEASE_MS }], ['change'], ['change'])],
      { clock: asleep, leaseMs: LEASE_MS, store },
    )
    const handle = await harness.executor.execute(sleeper, 'x', { sessionId: 's' })
    expect((await handle.result()).error?.code).toBe('conflict')
    expect(ran).toEqual(['a'])
  })

  test("does not end workspaces, nor the stream, that are its successor's", async () => {
    const provider = new InMemoryWorkspaceProvider()
    const write = calls(['workspace__box__write_file', { path: '/a', content: 'still there' }])
    const store = new InMemoryStateStore()
    const commit = store.commitStep.bind(store)
    const streams = new InMemoryStreamManager()
    // The lid closes right after the last step was stored, and somebody else goes on.
    store.commitStep = async (step) => {
      await commit(step)
      if (step.outcome === undefined) return
      jump(2 * LEASE_MS)
      await store.beginRun({ ...other, leaseMs: 10 * LEASE_MS, now })
    }
    const options = {
      clock: asleep,
      leaseMs: LEASE_MS,
      store,
      streams,
      workspaceProviders: [provider],
    }
    const harness = createHarness([write, say('end')], options)
    const handle = await harness.executor.execute(boxed, 'x', { sessionId: 's' })
    expect((await handle.result()).error?.code).toBe('conflict')
    const head = await store.loadSession('s')
    expect(Object.keys(head!.workspaceRefs)).toEqual(['box'])
    await provider.resolve(head!.workspaceRefs['box']!, resolveOptions)
    const next = await streams.resumeRun('s', 'other', 'a')
    await next.write({
      type: 'text_delta',
      delta: 'x',
      agentId: 'other',
      agentType: 'a',
      timestamp: 1,
    })
    await streams.endRun('s', 'other')
    expect((await typesOf(handle)).at(-1)).toBe('text_delta')
    expect(await typesOf(handle)).not.toContain('error')
  })
})

test('two processes that both believe in themselves: the late one is fenced', async () => {
  const store = new InMemoryStateStore()
  const streams = new InMemoryStreamManager()
  const [hold, started] = [gate(), gate()]
  const slow = defineTool({
    name: 'slow',
    description: '',
    inputSchema: z.object({}),
    execute: async () => {
      started.open()
      await hold.opened
      return 'late'
    },
  })
  const both = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [slow] })
  const [clockA, clockB] = [new ManualClock(0), new ManualClock(60_000)]
  const a = createHarness([calls(['slow'])], { store, streams, clock: clockA })
  const b = createHarness([say('mine')], { store, streams, clock: clockB })
  const first = await a.executor.execute(both, 'x', { sessionId: 's' })
  await started.opened
  const second = await b.executor.resume(both, 's')
  expect(await second.result()).toMatchObject({ status: 'completed', output: 'mine' })
  hold.open()
  expect(await first.result()).toMatchObject({ status: 'failed', error: { code: 'conflict' } })
  const roles = (await storedMessages(a)).map(({ role }) => role)
  expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect(await store.loadSession('s')).toMatchObject({ status: 'completed', output: 'mine' })
  expect(await typesOf(second)).toEqual(['tool_start', 'tool_end', 'text_delta', 'output'])
})
