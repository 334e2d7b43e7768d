import type { SessionStateStore } from '@helix-agents/core/runtime'
import { check, equal, rejectsWithCode } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { contentsOf, createAndBegin, headOf, newSession, START } from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

export const damageBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/damage/is-reported-as-corrupt',
    needs: ['damage'],
    run: async (subject) => {
      const store = await damaged(subject)
      await rejectsWithCode('corrupt', () => store.loadSession('broken'))
    },
  },
  {
    id: 'store/damage/does-not-touch-other-sessions',
    needs: ['damage'],
    run: async (subject) => {
      const store = await damaged(subject)
      equal(await contentsOf(store, 'before'), ['kept'])
      const run = await createAndBegin(store, { sessionId: 'new' })
      await run.step('one')
      equal((await headOf(store, 'new')).stepCount, 1)
    },
  },
  {
    id: 'store/damage/does-not-hide-others-in-lists',
    needs: ['damage'],
    run: async (subject) => {
      const store = await damaged(subject)
      const page = await store.listSessions()
      equal(
        page.items.map((head) => head.sessionId),
        ['after', 'before'],
      )
      equal(
        page.unreadable?.map((one) => [one.sessionId, one.code]),
        [['broken', 'corrupt']],
      )
      const first = await store.listSessions({ limit: 1 })
      equal([first.items.length, first.unreadable], [1, undefined])
    },
  },
  {
    id: 'store/damage/is-not-overwritten-and-can-be-deleted',
    needs: ['damage'],
    run: async (subject) => {
      const store = await damaged(subject)
      await rejectsWithCode(['conflict', 'corrupt'], () =>
        store.createSession(newSession({ sessionId: 'broken' })),
      )
      await rejectsWithCode('corrupt', () => store.loadSession('broken'))
      await store.deleteSession('broken')
      equal(await store.loadSession('broken'), null)
      await store.createSession(newSession({ sessionId: 'broken' }))
      equal((await headOf(store, 'broken')).status, 'idle')
    },
  },
]

/** Three sessions, oldest first; the one in the middle is damaged. */
async function damaged(subject: StoreSubject): Promise<SessionStateStore> {
  const { store } = subject
  const before = await createAndBegin(store, { sessionId: 'before' })
  await before.append('kept')
  await store.createSession(newSession({ sessionId: 'broken', now: START + 1 }))
  await store.createSession(newSession({ sessionId: 'after', now: START + 2 }))
  check(subject.damage !== undefined, 'a subject that can be damaged to have damage()')
  await subject.damage('broken')
  return store
}
