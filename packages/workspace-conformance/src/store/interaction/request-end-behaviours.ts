import type { SessionStateStore } from '@helix-agents/core/runtime'
import { equal } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { beginRun, LEASE_MS, resultOf, START } from '../session-script.ts'
import {
  answer,
  ask,
  asking,
  askingBelow,
  decisionsOf,
  DENIED,
  liveCallsOf,
  requestFor,
} from './request-script.ts'
import type { StoreSubject } from '../store-subject.ts'

export const requestEndBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/request/ends-with-its-call',
    run: async ({ store }) => {
      const run = await asking(store, ['a', 'b', 'c'])
      await answer(store, 'b', DENIED)
      for (const toolCallId of ['a', 'b']) {
        await store.completeToolCall({ ...run.write(), toolCallId, result: resultOf(toolCallId) })
      }
      equal(await liveCallsOf(store), ['c'])
      equal(await decisionsOf(store, 'a', 'b', 'c'), ['cancelled', 'deny', 'open'])
    },
  },
  {
    id: 'store/request/ends-with-its-step',
    run: async ({ store }) => {
      const run = await asking(store)
      await answer(store, 'b')
      await store.commitStep({ ...run.write(), messages: [], checkpointId: 'cp' })
      equal(
        [await liveCallsOf(store), await decisionsOf(store, 'a', 'b')],
        [[], ['cancelled', 'approve']],
      )
    },
  },
  {
    id: 'store/request/outlives-its-run',
    run: async ({ store }) => {
      let run = await asking(store)
      await answer(store, 'b')
      for (const status of ['interrupted', 'failed'] as const) {
        await run.end(status)
        equal(
          [await liveCallsOf(store), await decisionsOf(store, 'a', 'b')],
          [
            ['a', 'b'],
            ['open', 'approve'],
          ],
        )
        run = await beginRun(store, { runId: `after ${status}` })
      }
      equal(await liveCallsOf(store), ['a', 'b'])
      equal(await store.startRequest({ ...run.write(), requestId: 'request-b' }), true)
    },
  },
  {
    id: 'store/request/is-cancelled-by-an-abort',
    run: async ({ store }) => {
      const run = await asking(store)
      await askingBelow(store)
      await answer(store, 'b')
      await run.end('aborted')
      equal(await decisionsOf(store, 'a', 'b', 's'), ['cancelled', 'approve', 'cancelled'])
      equal(await liveIn(store), [[], []])
      const late = await answer(store, 'a')
      equal([late.isFirst, late.request.resolution?.decision], [false, 'cancelled'])
    },
  },
  {
    id: 'store/request/is-cancelled-by-the-abort-of-its-sub-agent',
    run: async ({ store }) => {
      await asking(store, ['a'])
      const below = await askingBelow(store)
      await below.end('aborted')
      equal(await decisionsOf(store, 'a', 's'), ['open', 'cancelled'])
      equal(await liveIn(store), [['a'], []])
    },
  },
  {
    id: 'store/request/is-cancelled-by-restoring',
    run: async ({ store }) => {
      const run = await asking(store, ['a'])
      await store.commitStep({ ...run.write(), messages: [], checkpointId: 'cp' })
      await store.beginStep({ ...run.write(), messages: [], journal: [] })
      await ask(store, run, requestFor('b'), requestFor('c'))
      await answer(store, 'c')
      await askingBelow(store)
      await store.restoreCheckpoint('session', 'cp', START + LEASE_MS)
      equal(await decisionsOf(store, 'b', 'c', 's'), ['cancelled', 'approve', 'cancelled'])
      equal(await liveIn(store), [[], []])
    },
  },
  {
    id: 'store/request/is-deleted-with-the-session-that-lists-it',
    run: async ({ store }) => {
      await asking(store, ['a'])
      await askingBelow(store)
      await store.deleteSession('session')
      equal((await store.listRequests({ now: START })).items, [])
      equal(await liveCallsOf(store, 'session/sub'), [])
      const run = await asking(store, ['b'])
      equal([await liveCallsOf(store), (await ask(store, run)).length], [['b'], 0])
    },
  },
  {
    id: 'store/request/is-deleted-with-the-session-that-asks',
    run: async ({ store }) => {
      await asking(store, ['a'])
      await askingBelow(store)
      await store.deleteSession('session/sub')
      const { items } = await store.listRequests({ now: START })
      equal(
        items.map(({ toolCallId }) => toolCallId),
        ['a'],
      )
    },
  },
]

/** Live calls of the root and of its sub-agent. */
async function liveIn(store: SessionStateStore): Promise<readonly (readonly string[])[]> {
  return [await liveCallsOf(store), await liveCallsOf(store, 'session/sub')]
}
