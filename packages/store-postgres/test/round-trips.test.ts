// What one step of a run costs on the wire: statements that travel together are one round trip.
import { defineAgent, defineTool, type LLMAdapter, systemClock } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { expect, test } from 'vitest'
import { emptyPlace, opened } from './opened.ts'
import { type RoundTrip, WireLog } from './wire-log.ts'

const STEPS = 6

/** The number of the transaction is known before its commit is sent: see `writeTransaction`. */
const BEGIN = [
  'BEGIN',
  'SET statement_timeout',
  'SET idle_in_transaction_session_timeout',
  'SELECT pg_current_xact_id',
] as const

/** The journal is stored before the call may have an effect. */
const BEGIN_STEP: readonly RoundTrip[] = [
  [...BEGIN, 'UPDATE helix_sessions'],
  ['DELETE helix_journal', 'INSERT helix_messages', 'INSERT helix_journal', 'COMMIT'],
]
const COMMIT_STEP: readonly RoundTrip[] = [
  [...BEGIN, 'UPDATE helix_sessions'],
  ['INSERT helix_messages', 'INSERT helix_checkpoints', 'COMMIT'],
]
const APPEND_CHUNKS: readonly RoundTrip[] = [
  [...BEGIN, 'SELECT helix_streams', 'SELECT helix_streams'],
  ['INSERT helix_chunks', 'COMMIT'],
]
/** Nothing waits for it. */
const NOTIFY: RoundTrip = ['SELECT pg_notify']

/** What the model says, the start and the end of the call. */
const MOST_APPENDS = 3

test('a step of one call takes two round trips before the call and two after it', async () => {
  const steps = await stepsOnTheWire()
  expect(steps).toHaveLength(STEPS)
  for (const { before, after } of steps) {
    expect(before.filter((one) => !isOfStream(one))).toEqual(BEGIN_STEP)
    expect(after.filter((one) => !isOfStream(one))).toEqual(COMMIT_STEP)
  }
})

test('its chunks take two round trips for all that come together, and a notification', async () => {
  const steps = await stepsOnTheWire()
  const streamed = steps.flatMap(({ before, after }) => [...before, ...after]).filter(isOfStream)
  const appends = streamed.filter((one) => one.join() !== NOTIFY.join())
  const transactions = appends.length / APPEND_CHUNKS.length
  // The chunks of one stream are stored one transaction after the other.
  expect(appends).toEqual(Array.from({ length: transactions }, () => APPEND_CHUNKS).flat())
  expect(transactions).toBeLessThanOrEqual(MOST_APPENDS * STEPS)
  expect(streamed.length - appends.length).toBeLessThanOrEqual(transactions)
})

function isOfStream(roundTrip: RoundTrip): boolean {
  return roundTrip.some((one) => /helix_streams|helix_chunks|pg_notify/.test(one))
}

/** The round trips of a step until its call runs, and those until the model is asked again. */
interface StepOnTheWire {
  readonly before: readonly RoundTrip[]
  readonly after: readonly RoundTrip[]
}

async function stepsOnTheWire(): Promise<readonly StepOnTheWire[]> {
  const log = await WireLog.open(await emptyPlace())
  const { stateStore, streamManager } = await opened(log.url)
  const before: (readonly RoundTrip[])[] = []
  const after: (readonly RoundTrip[])[] = []
  const adapter: LLMAdapter = {
    generateStep: async ({ callbacks }) => {
      const taken = log.take()
      if (before.length > 0) after.push(taken)
      callbacks.onTextDelta?.('words')
      if (before.length === STEPS) return { type: 'text', content: 'done', shouldStop: true }
      const call = { id: `${before.length}`, name: 'record', arguments: {} }
      return { type: 'tool_calls', content: 'words', toolCalls: [call] }
    },
  }
  const tool = defineTool({
    name: 'record',
    description: 'Records.',
    inputSchema: { type: 'object' },
    execute: async () => {
      before.push(log.take())
      return 'recorded'
    },
  })
  const agent = defineAgent({ name: 'a', llmConfig: { model: {} }, tools: [tool] })
  // No lease is renewed meanwhile, and nothing looked up that another process may want.
  const options = { clock: { ...systemClock, setTimer: () => () => {} } }
  const executor = new JSAgentExecutor(stateStore, streamManager, adapter, options)
  const handle = await executor.execute(agent, 'go')
  await handle.result()
  return before.map((one, at) => ({ before: one, after: after[at] ?? [] }))
}
