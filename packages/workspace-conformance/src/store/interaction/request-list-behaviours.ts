import type { RequestQuery, SessionStateStore } from '@helix-agents/core/runtime'
import { equal, rejectsWithCode } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { START } from '../session-script.ts'
import { answer, ask, asking, inStep, requestFor } from './request-script.ts'
import type { StoreSubject } from '../store-subject.ts'

export const requestListBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/request/list-pages-oldest-first',
    run: async ({ store }) => {
      const run = await asking(store, ['a', 'b', 'c', 'd', 'e'])
      const found: string[] = []
      let cursor: string | undefined
      do {
        const page = await store.listRequests({
          now: START,
          limit: 2,
          ...(cursor !== undefined && { cursor }),
        })
        found.push(...page.items.map(({ toolCallId }) => toolCallId))
        cursor = page.nextCursor
        // What comes and goes meanwhile is neither repeated nor skipped.
        if (found.length === 2) {
          await answer(store, 'a')
          await ask(store, run, requestFor('f'))
        }
      } while (cursor !== undefined)
      equal(found, ['a', 'b', 'c', 'd', 'e', 'f'])
    },
  },
  {
    id: 'store/request/list-ends-with-its-last-page',
    run: async ({ store }) => {
      await asking(store, ['a', 'b'])
      equal((await store.listRequests({ now: START, limit: 2 })).nextCursor, undefined)
      equal((await store.listRequests({ now: START, limit: 1 })).items.length, 1)
    },
  },
  {
    id: 'store/request/list-of-what-is-open-or-resolved',
    run: async ({ store }) => {
      const run = await inStep(store, ['a', 'b', 'c', 'd'])
      const expiresAt = START + 100
      const requests = ['a', 'b'].map((call) => requestFor(call))
      const expiring = ['c', 'd'].map((call) => requestFor(call, { expiresAt }))
      await ask(store, run, ...requests, ...expiring)
      await answer(store, 'b')
      await answer(store, 'd')
      for (const own of [{}, { sessionId: 'session' }]) {
        equal(await callsOf(store, { ...own, now: expiresAt - 1, state: 'open' }), ['a', 'c'])
        equal(await callsOf(store, { ...own, now: expiresAt, state: 'open' }), ['a'])
        equal(await callsOf(store, { ...own, now: expiresAt - 1, state: 'resolved' }), ['b', 'd'])
        equal(await callsOf(store, { ...own, now: expiresAt, state: 'resolved' }), ['b', 'c', 'd'])
        equal(await callsOf(store, { ...own, now: expiresAt }), ['a', 'b', 'c', 'd'])
      }
    },
  },
  {
    id: 'store/request/list-rejects-bad-queries',
    run: async ({ store }) => {
      await asking(store, ['a'])
      for (const bad of [{ cursor: '%' }, { limit: 0 }, { limit: 1.5 }]) {
        await rejectsWithCode('invalid-query', () => store.listRequests({ now: START, ...bad }))
      }
      const unknown = { sessionId: 'unknown', now: START }
      await rejectsWithCode('not-found', () => store.listRequests(unknown))
      await rejectsWithCode('not-found', () => store.loadRequests('unknown'))
    },
  },
]

async function callsOf(store: SessionStateStore, query: RequestQuery): Promise<readonly string[]> {
  return (await store.listRequests(query)).items.map(({ toolCallId }) => toolCallId)
}
