import type { SessionStateStore } from '@helix-agents/core/runtime'
import { equal, rejectsWithCode } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { beginRun, createAndBegin, headOf, resultOf } from '../session-script.ts'
import { answer, asking, askingBelow, DENIED, queued } from './request-script.ts'
import type { StoreSubject } from '../store-subject.ts'

export const signalBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/signal/counts-queued-messages',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      equal(await countsOf(store), [0, 0, 0])
      for (const id of ['a', 'b', 'c']) await store.queueMessage(queued(id))
      await store.queueMessage(queued('d', { delivery: 'followUp' }))
      equal(await countsOf(store), [3, 1, 0])
      await store.deliverMessages({ ...run.write(), messageIds: ['a', 'd'] })
      await store.removeQueuedMessage('session', 'b')
      equal(await countsOf(store), [1, 0, 0])
    },
  },
  {
    id: 'store/signal/counts-answers-that-wait-for-the-run',
    run: async ({ store }) => {
      const run = await asking(store, ['a', 'b', 'c'])
      equal(await countsOf(store), [0, 0, 0])
      await answer(store, 'a')
      await answer(store, 'b', DENIED)
      equal(await countsOf(store), [0, 0, 2])
      await store.startRequest({ ...run.write(), requestId: 'request-a' })
      equal(await countsOf(store), [0, 0, 1])
      await store.completeToolCall({ ...run.write(), toolCallId: 'b', result: resultOf('b') })
      equal(await countsOf(store), [0, 0, 0])
    },
  },
  {
    id: 'store/signal/counts-answers-of-sub-agents',
    run: async ({ store }) => {
      await asking(store, ['a'])
      const below = await askingBelow(store)
      await answer(store, 's')
      equal(
        [await countsOf(store), await countsOf(store, 'session/sub')],
        [
          [0, 0, 1],
          [0, 0, 1],
        ],
      )
      await below.step('over')
      equal(
        [await countsOf(store), await countsOf(store, 'session/sub')],
        [
          [0, 0, 0],
          [0, 0, 0],
        ],
      )
    },
  },
  {
    id: 'store/signal/counts-no-answers-of-calls-that-are-gone',
    run: async ({ store }) => {
      const run = await asking(store, ['a'])
      await answer(store, 'a')
      await run.end('aborted')
      equal(await countsOf(store), [0, 0, 0])
    },
  },
  {
    id: 'store/signal/keeps-the-stronger-stop',
    run: async ({ store }) => {
      await createAndBegin(store)
      const { version } = await headOf(store)
      equal(await stopOf(store), undefined)
      for (const [stop, expected] of [
        ['interrupt', 'interrupt'],
        ['interrupt', 'interrupt'],
        ['abort', 'abort'],
        ['interrupt', 'abort'],
      ] as const) {
        await store.requestStop('session', stop)
        equal(await stopOf(store), expected)
      }
      equal((await headOf(store)).version, version)
    },
  },
  {
    id: 'store/signal/stop-ends-with-the-run',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await store.requestStop('session', 'abort')
      await run.step('one')
      equal(await stopOf(store), 'abort')
      await run.end('aborted')
      equal(await stopOf(store), undefined)
      await store.requestStop('session', 'interrupt')
      await beginRun(store, { runId: 'run-2' })
      equal(await stopOf(store), undefined)
    },
  },
  {
    id: 'store/signal/of-an-unknown-session-is-not-found',
    run: async ({ store }) => {
      await createAndBegin(store)
      await rejectsWithCode('not-found', () => store.requestStop('unknown', 'abort'))
      await rejectsWithCode('not-found', () => store.loadSignals('unknown'))
      equal(await stopOf(store), undefined)
    },
  },
]

async function countsOf(
  store: SessionStateStore,
  sessionId = 'session',
): Promise<readonly number[]> {
  const { steering, followUps, answered } = await store.loadSignals(sessionId)
  return [steering, followUps, answered]
}

async function stopOf(store: SessionStateStore): Promise<string | undefined> {
  return (await store.loadSignals('session')).stop
}
