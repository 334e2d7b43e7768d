// Messages that wait for a run, and what it learns of other processes twice a second.
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import type { Run } from '../../src/ports.ts'
import { createInbox, deliverQueued, onQueued, watchSignals } from '../../src/run/inbox.ts'
import { RunControl } from '../../src/run/run-control.ts'
import { settle } from '../harness.ts'

const queued = ['m1', 'm2'].map((messageId) => ({
  messageId,
  message: { role: 'user', content: messageId } as const,
}))

function runOf() {
  const [clock, logger, control] = [new ManualClock(), new RecordingLogger(), new RunControl()]
  const asked: unknown[] = []
  const signals: object[] = []
  const answers: (() => Promise<object>)[] = []
  const lists = { waiting: queued, delivered: queued.slice(0, 1) }
  const stateStore = {
    loadSignals: async (sessionId: string) => {
      asked.push(sessionId)
      const answer = answers.shift()
      return answer?.() ?? signals.shift() ?? { steering: 0, followUps: 0 }
    },
    listQueuedMessages: async (...given: unknown[]) => (asked.push(given), lists.waiting),
    deliverMessages: async (given: object) => (asked.push(given), lists.delivered),
  }
  const chunks: unknown[] = []
  const run = {
    services: { stateStore, clock, logger },
    sessionId: 's',
    runId: 'r',
    control,
    inbox: createInbox(true),
    messages: [] as object[],
    lease: { write: () => ({ runId: 'r' }) },
    chunks: { emit: (...given: unknown[]) => void chunks.push(given) },
  }
  const typed = run as unknown as Run
  return { run, typed, clock, logger, control, asked, signals, answers, lists, chunks }
}

test('what waits is delivered, as much of it as nobody else has, and is looked for once', async () => {
  const { run, typed, asked } = runOf()
  expect(await deliverQueued(typed, 'steer')).toBe(1)
  expect(asked).toEqual([['s', 'steer'], { runId: 'r', messageIds: ['m1', 'm2'] }])
  expect(run.messages).toEqual([queued[0]!.message])
  expect(run.inbox.mayHaveMessages).toBe(false)
})

test('when nothing waits nothing is written', async () => {
  const { typed, asked, lists } = runOf()
  lists.waiting = []
  expect(await deliverQueued(typed)).toBe(0)
  expect(asked).toEqual([['s', undefined]])
})

test('a message of this process is told to readers; one that steers is looked for', () => {
  const { run, typed, chunks } = runOf()
  run.inbox.mayHaveMessages = false
  onQueued(typed, { messageId: 'm1', delivery: 'followUp' })
  expect(run.inbox.mayHaveMessages).toBe(false)
  onQueued(typed, { messageId: 'm2', delivery: 'steer' })
  expect(run.inbox.mayHaveMessages).toBe(true)
  expect(chunks).toEqual([
    ['message_queued', { messageId: 'm1', delivery: 'followUp' }],
    ['message_queued', { messageId: 'm2', delivery: 'steer' }],
  ])
})

test('a run looks each 500 ms, until it ends', async () => {
  const { run, typed, clock, asked, signals, control } = runOf()
  run.inbox.mayHaveMessages = false
  const end = watchSignals(typed)
  await clock.advance(499)
  expect(asked).toEqual([])
  signals.push({ steering: 0, followUps: 3 }, { steering: 1, followUps: 0 })
  await clock.advance(1)
  expect([asked, run.inbox.mayHaveMessages]).toEqual([['s'], false])
  await clock.advance(500)
  expect([asked.length, run.inbox.mayHaveMessages]).toEqual([2, true])
  expect([control.interrupted, control.cause]).toEqual([false, undefined])
  end()
  await clock.advance(5000)
  expect([asked.length, clock.pendingTimers]).toEqual([2, 0])
})

test.each([
  ['interrupt', true, undefined],
  ['abort', false, 'aborted'],
] as const)('%s of another process stops it so', async (stop, interrupted, cause) => {
  const { typed, clock, signals, control } = runOf()
  const end = watchSignals(typed)
  signals.push({ stop, steering: 0, followUps: 0 })
  await clock.advance(500)
  expect([control.interrupted, control.cause]).toEqual([interrupted, cause])
  end()
})

test('a look that fails is logged, and followed by the next one', async () => {
  const { typed, clock, answers, asked, logger } = runOf()
  const err = new Error('away')
  answers.push(() => Promise.reject(err))
  const end = watchSignals(typed)
  await clock.advance(1000)
  expect(asked).toHaveLength(2)
  const message = 'signals of session not loaded'
  const fields = { err, sessionId: 's', runId: 'r' }
  expect(logger.lines).toEqual([{ level: 'warn', message, fields }])
  end()
})

test('what a look finds that outlasts the run is not acted on', async () => {
  const { run, typed, clock, answers, control } = runOf()
  run.inbox.mayHaveMessages = false
  const hold = Promise.withResolvers<object>()
  answers.push(() => hold.promise)
  const end = watchSignals(typed)
  await clock.advance(500)
  end()
  hold.resolve({ stop: 'abort', steering: 1, followUps: 0 })
  await settle()
  expect([control.cause, run.inbox.mayHaveMessages]).toEqual([undefined, false])
  expect(clock.pendingTimers).toBe(0)
})
