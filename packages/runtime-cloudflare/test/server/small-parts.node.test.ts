// Small parts of an object: its options, its places, what is erased of one that nobody uses, runs that were cut off.
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { describe, expect, test } from 'vitest'
import { endCutOffRun } from '../../src/run/end-cut-off-run.ts'
import { assertServerOptions } from '../../src/server/check-options.ts'
import { eraseUnusedObject } from '../../src/server/erase-unused-object.ts'
import { createPlaces } from '../../src/server/host-places.ts'

const work = () => {}
const fine = { llmAdapter: work, agents: [] }

test('options of the right kinds are taken', () => {
  expect(() => assertServerOptions(fine)).not.toThrow()
  const more = { ...fine, agents: work, workspaceProviders: work }
  expect(() => assertServerOptions(more)).not.toThrow()
})

test.each<readonly [object, string]>([
  [{ ...fine, llmAdapter: {} }, 'the option llmAdapter must be (env, ctx) => an adapter'],
  [
    { ...fine, agents: {} },
    'the option agents must be a list of agents, or (env, ctx) => that list',
  ],
  [
    { ...fine, workspaceProviders: [] },
    'the option workspaceProviders must be (env, ctx, session) => a list of providers',
  ],
])('options %o: %s', (options, problem) => {
  const expected = new TypeError(`createAgentServer: ${problem}`)
  expect(() => assertServerOptions(options)).toThrow(expected)
})

test.each<readonly [object, readonly [number, number, number]]>([
  [{}, [100, 32, 32]],
  [{ maxStreamReaders: 3 }, [3, 32, 32]],
  [{ maxUnreadBodies: 5 }, [100, 5, 5]],
])('with %o there are so many places: %j', (options, [readers, bodies, commands]) => {
  const places = createPlaces(options as never)
  const refusals = [
    [places.streams, readers, 'too-many-readers', 'readers of its stream'],
    [places.bodies, bodies, 'too-many-requests', 'requests whose bodies are not complete'],
    [places.commands, commands, 'too-many-requests', 'commands that are not answered'],
  ] as const
  for (const [kind, max, code, what] of refusals) {
    for (let place = 0; place < max; place++) kind.take({})
    expect(() => kind.take({})).toThrow(
      expect.objectContaining({
        status: 429,
        code,
        message: `the session has too many ${what}, in all or of this caller: ${max}`,
      }),
    )
  }
})

describe('of an object that was only asked for something', () => {
  const NAME = '__ps_name'
  const erased = async (given: {
    readonly alarm?: number
    readonly tables?: readonly unknown[]
    readonly keys?: readonly string[]
    readonly isNeeded?: boolean
  }) => {
    const { alarm = null, tables = [], keys = [NAME], isNeeded = false } = given
    const asked: unknown[] = []
    let isErased = false
    const storage = {
      getAlarm: async () => alarm,
      sql: { exec: (query: string) => (asked.push(query), { toArray: () => tables }) },
      kv: {
        list: ({ limit }: { limit: number }) =>
          keys.slice(0, limit).map((key) => [key, 1] as const),
      },
      deleteAll: async () => {
        await Promise.resolve()
        isErased = true
      },
    }
    await eraseUnusedObject(storage as never, () => isNeeded)
    return isErased
  }

  test.each<readonly [boolean, Parameters<typeof erased>[0]]>([
    [true, {}],
    [true, { keys: [] }],
    [false, { alarm: 0 }],
    [false, { isNeeded: true }],
    [false, { tables: [{ 1: 1 }] }],
    [false, { keys: [NAME, 'own'] }],
    [false, { keys: ['own', NAME] }],
    [false, { keys: ['own'] }],
  ])('all is removed: %s, with %j', async (expected, given) => {
    expect(await erased(given)).toBe(expected)
  })
})

const cutOff = async () => {
  const [stateStore, streamManager] = [new InMemoryStateStore(), new InMemoryStreamManager()]
  const clock = new ManualClock(10_000)
  const start = { sessionId: 's', runId: 'dead', now: 0 }
  await stateStore.createSession({ ...start, agentType: 'a', customState: undefined })
  await stateStore.beginRun({ ...start, leaseMs: 1 })
  const writer = await streamManager.startRun('s', 'dead', 'a')
  const chunk = { agentId: 'dead', agentType: 'a', timestamp: 0 }
  await writer.write({ ...chunk, type: 'text_delta', delta: 'half' })
  const session = (await stateStore.loadSession('s'))!
  const end = async (how: Parameters<typeof endCutOffRun>[2]) => {
    await endCutOffRun({ stateStore, streamManager, clock }, session, how)
    const chunks: unknown[] = []
    for await (const one of (await streamManager.read('s')) ?? []) chunks.push(one)
    return { session: (await stateStore.loadSession('s'))!, chunks }
  }
  return { stateStore, clock, end }
}

describe('a run that no process drives any more', () => {
  test('has failed, which its readers are told at the end of what there was', async () => {
    const { end } = await cutOff()
    const error = { code: 'gave-up', message: 'too often' }
    const { session, chunks } = await end({ status: 'failed', error })
    expect(session).toMatchObject({ status: 'failed', error, updatedAt: 10_000 })
    expect(session.leaseUntil).toBeUndefined()
    expect(session.runId).not.toBe('dead')
    expect(chunks).toMatchObject([
      { type: 'text_delta', delta: 'half' },
      { type: 'error', ...error, agentId: session.runId, agentType: 'a', timestamp: 10_000 },
    ])
  })

  test('is interrupted, and its readers end', async () => {
    const { end, stateStore } = await cutOff()
    const started: unknown[] = []
    const beginRun = stateStore.beginRun.bind(stateStore)
    stateStore.beginRun = (start) => (started.push(start), beginRun(start))
    const { session, chunks } = await end({ status: 'interrupted' })
    expect(started).toMatchObject([{ sessionId: 's', now: 10_000, leaseMs: 60_000 }])
    expect(session.status).toBe('interrupted')
    expect(chunks).toMatchObject([{ type: 'text_delta' }])
  })
})
