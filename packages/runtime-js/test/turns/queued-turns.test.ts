// A turn that waits in a queue: what is stored of it, how often it is looked at, and how it ends.
import { defineAgent } from '@helix-agents/core'
import type { CancelledTurns, TurnQueuePort, TurnStatus } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import type { EnqueueOptions, ExecuteInput } from '@helix-agents/runtime-js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createHarness, gate, say, settle } from '../harness.ts'

const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
const sessionId = 's'
const none: CancelledTurns = { cancelled: 0, begun: false, active: false }

/** A queue whose answers a test gives, and that keeps what it was asked for. */
function queue(status: () => TurnStatus = () => ({ state: 'ended' }), cancelled = none) {
  const asked = { enqueued: [] as unknown[], looks: 0, cancelled: [] as unknown[] }
  const turnQueue: TurnQueuePort = {
    enqueue: async (of, message, options) => {
      asked.enqueued.push([of.name, message, options])
      return { sessionId, turnId: 't' }
    },
    turnStatus: async () => ((asked.looks += 1), status()),
    cancelTurns: async (...given) => (asked.cancelled.push(given), cancelled),
  }
  return { asked, turnQueue }
}

function setup(parts = queue(), options: object = {}) {
  const { asked, turnQueue } = parts
  const harness = createHarness([say('done')], { turnQueue, ...options })
  const enqueue = (input: ExecuteInput = 'Go', more: Partial<EnqueueOptions> = {}) =>
    harness.executor.execute(agent, input, { sessionId, mode: 'enqueue', ...more })
  return { ...harness, asked, enqueue }
}

const whole = {
  turnId: 'b7f1',
  tenant: 'acme',
  priority: 3,
  startAfter: new Date(5),
  userId: 'u',
  tags: ['x'],
  metadata: { y: 1 },
}

test('a turn is stored with everything that was asked for, and nothing else', async () => {
  const { asked, enqueue } = setup()
  await enqueue()
  await enqueue({ message: 'Go', state: { n: 1 } }, whole)
  const message = { role: 'user', content: 'Go' }
  expect(asked.enqueued).toStrictEqual([
    ['a', message, { sessionId }],
    ['a', message, { ...whole, sessionId, state: { n: 1 } }],
  ])
})

test('what cannot be a turn is refused, and nothing is stored', async () => {
  const { asked, enqueue, store, executor } = setup()
  await expect(enqueue({ message: [] })).rejects.toMatchObject({ code: 'invalid-message' })
  const two = [
    { role: 'user', content: 'one' },
    { role: 'user', content: 'two' },
  ] as const
  await expect(enqueue({ message: two })).rejects.toThrow('exactly one message')
  const strict = defineAgent({ ...agent, stateSchema: z.object({ n: z.number() }) })
  const given = { message: 'Go', state: { n: 'x' } }
  await expect(
    executor.execute(strict, given, { sessionId, mode: 'enqueue' }),
  ).rejects.toMatchObject({ name: 'AgentDefinitionError' })
  const seed = { sessionId, customState: undefined, now: 1 }
  await store.createSession({ ...seed, agentType: 'a' })
  await expect(enqueue({ message: 'Go', state: {} })).rejects.toThrow(
    'a queued turn sets the state of a new session only',
  )
  const other = defineAgent({ name: 'b', llmConfig: { model: {} } })
  await expect(executor.execute(other, 'Go', { sessionId, mode: 'enqueue' })).rejects.toMatchObject(
    { code: 'other-agent', message: expect.stringContaining('it belongs to agent a') },
  )
  expect(asked.enqueued).toEqual([])
  const alone = createHarness([])
  await expect(alone.executor.execute(agent, 'Go', { mode: 'enqueue' })).rejects.toMatchObject({
    code: 'no-queue',
    hint: expect.stringContaining('turnQueue'),
  })
})

test('a turn that waits is looked at less and less often', async () => {
  const clock = new ManualClock(0)
  let state: TurnStatus['state'] = 'queued'
  const { asked, enqueue, executor } = setup(
    queue(() => ({ state })),
    { clock },
  )
  const result = (await enqueue()).result()
  const times: number[] = []
  await settle()
  for (let seen = 1; clock.now() < 2000;) {
    await clock.advance(5)
    if (asked.looks > seen) times.push(clock.now())
    seen = asked.looks
  }
  expect(times).toEqual([25, 75, 175, 375, 775, 1275, 1775])
  state = 'ended'
  await (await executor.execute(agent, 'Go', { sessionId })).result()
  await clock.advance(500)
  expect(await result).toMatchObject({ status: 'completed', output: 'done' })
})

test('its stream is read to the end once, from where the reader wants', async () => {
  const clock = new ManualClock()
  let state: TurnStatus['state'] = 'active'
  const { enqueue, executor } = setup(
    queue(() => ({ state })),
    { clock },
  )
  const handle = await enqueue()
  await (await executor.execute(agent, 'Go', { sessionId })).result()
  const types: string[] = []
  const readWhole = async (options?: object) => {
    for await (const { type, sequence } of handle.stream(options)) types.push(`${sequence} ${type}`)
  }
  const reading = readWhole({ fromSequence: 0 })
  await settle()
  await clock.advance(100)
  state = 'ended'
  await clock.advance(500)
  await reading
  const all = types.splice(0)
  expect(all.map((one) => one.replace(/^\d+ /, ''))).toEqual(['text_delta', 'output'])
  await readWhole({ fromSequence: Number(all[1]!.split(' ')[0]) })
  expect(types).toEqual(all.slice(1))
})

test('a reader that is told to stop waits for no turn', async () => {
  const { enqueue } = setup(queue(() => ({ state: 'queued' })))
  const handle = await enqueue()
  const signal = AbortSignal.abort()
  const types: string[] = []
  for await (const { type } of handle.stream({ signal })) types.push(type)
  expect(types).toEqual([])
})

test('a turn that no worker could start says why', async () => {
  const { enqueue } = setup(queue(() => ({ state: 'ended', rejected: 'no such agent' })))
  const handle = await enqueue()
  const error = { code: 'turn-rejected', message: expect.stringContaining('no such agent') }
  await expect(handle.result()).rejects.toMatchObject(error)
  await expect(handle.stream()[Symbol.asyncIterator]().next()).rejects.toMatchObject(error)
})

test('a turn that was aborted before it began is over, and leaves its session as it was', async () => {
  const { enqueue, executor } = setup(queue(() => ({ state: 'ended', isAborted: true })))
  const handle = await enqueue()
  const aborted = { sessionId, runId: 't', status: 'aborted' }
  expect(await handle.result()).toMatchObject({ ...aborted, stepCount: 0 })
  await (await executor.execute(agent, 'before', { sessionId })).result()
  expect(await handle.result()).toMatchObject({ ...aborted, stepCount: 1 })
  const types: string[] = []
  for await (const { type } of handle.stream()) types.push(type)
  expect(types).toEqual([])
})

test.each<readonly [string, CancelledTurns, string]>([
  ['was cancelled before it began', { cancelled: 1, begun: false, active: false }, 'idle'],
  ['was cancelled between two workers', { cancelled: 1, begun: true, active: false }, 'aborted'],
  ['was not there any more', none, 'aborted'],
])('an abort of a turn that %s leaves its session %s', async (_, cancelled, status) => {
  const { enqueue, store, asked } = setup(queue(undefined, cancelled))
  const handle = await enqueue()
  await store.createSession({ sessionId, agentType: 'a', customState: undefined, now: 1 })
  await store.beginRun({ sessionId, runId: 'r', leaseMs: 1, now: 1 })
  if (status === 'idle') await store.endRun({ sessionId, runId: 'r', now: 1, status: 'failed' })
  await handle.abort()
  expect(asked.cancelled).toEqual([[sessionId, 't']])
  const left = (await store.loadSession(sessionId))?.status
  expect(left).toBe(status === 'idle' ? 'failed' : status)
})

test('an abort of a session that is not there says so, unless a turn of it was cancelled', async () => {
  const alone = setup()
  const handle = await alone.enqueue()
  await expect(handle.abort()).rejects.toMatchObject({ code: 'not-resumable' })
  const waiting = setup(queue(undefined, { cancelled: 1, begun: true, active: false }))
  await expect((await waiting.enqueue()).abort()).resolves.toBeUndefined()
})

test('a removal cancels the turns of its session first', async () => {
  const parts = queue()
  const reached = gate()
  const hold = gate()
  const turnQueue: TurnQueuePort = {
    ...parts.turnQueue,
    cancelTurns: async (...given) => {
      reached.open()
      await hold.opened
      return parts.turnQueue.cancelTurns(...given)
    },
  }
  const { executor, store, asked } = setup({ ...parts, turnQueue })
  await (await executor.execute(agent, 'Go', { sessionId })).result()
  const removing = executor.deleteSession(agent, sessionId)
  await reached.opened
  await settle()
  expect(await store.loadSession(sessionId)).not.toBeNull()
  hold.open()
  await removing
  expect(await store.loadSession(sessionId)).toBeNull()
  expect(asked.cancelled).toEqual([[sessionId]])
})

test('a reader of a turn that waits looks after 25 ms, then each time after twice as long', async () => {
  const clock = new ManualClock()
  const { asked, enqueue } = setup(
    queue(() => ({ state: 'queued' })),
    { clock },
  )
  const own = new AbortController()
  const reader = (await enqueue()).stream({ signal: own.signal })[Symbol.asyncIterator]()
  const next = reader.next()
  await settle()
  const looks = [asked.looks]
  for (const ms of [24, 1, 49, 1, 99, 1]) {
    await clock.advance(ms)
    looks.push(asked.looks)
  }
  expect(looks).toEqual([1, 1, 2, 2, 3, 3, 4])
  own.abort()
  await clock.advance(1000)
  expect((await next).done).toBe(true)
})
