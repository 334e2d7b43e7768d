import type { SessionStateStore } from '@helix-agents/core/runtime'
import { equal } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { contentsOf, START } from '../session-script.ts'
import {
  answer,
  asking,
  DENIED,
  liveCallsOf,
  queued,
  requestFor,
  requestOf,
} from './request-script.ts'
import type { StoreSubject } from '../store-subject.ts'

export const interactionDurableBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/durable/requests-and-answers-survive',
    needs: ['durable'],
    run: async (subject) => {
      const run = await asking(subject.store, ['a', 'b', 'c'])
      await answer(subject.store, 'a')
      await answer(subject.store, 'b', DENIED)
      await subject.store.startRequest({ ...run.write(), requestId: 'request-a' })
      const before = await subject.store.loadRequests('session')
      const store = await reopened(subject)
      equal(await store.loadRequests('session'), before)
      equal(await requestOf(store, 'c'), requestFor('c'))
      equal(await store.startRequest({ ...run.write(), requestId: 'request-a' }), false)
      equal((await answer(store, 'b')).isFirst, false)
      equal((await store.listRequests({ now: START, state: 'open' })).items.length, 1)
      equal(await liveCallsOf(store), ['a', 'b', 'c'])
    },
  },
  {
    id: 'store/durable/messages-and-stops-survive',
    needs: ['durable'],
    run: async (subject) => {
      const run = await asking(subject.store, ['a'])
      for (const id of ['a', 'b', 'c']) await subject.store.queueMessage(queued(id))
      await subject.store.deliverMessages({ ...run.write(), messageIds: ['b'] })
      await subject.store.requestStop('session', 'interrupt')
      const store = await reopened(subject)
      const left = await store.listQueuedMessages('session')
      equal(left, [queued('a'), queued('c')])
      await store.queueMessage(queued('b'))
      equal(await contentsOf(store), ['text of b'])
      equal(await store.loadSignals('session'), {
        stop: 'interrupt',
        steering: 2,
        followUps: 0,
        answered: 0,
      })
    },
  },
]

async function reopened(subject: StoreSubject): Promise<SessionStateStore> {
  return (await subject.reopen?.()) ?? subject.store
}
