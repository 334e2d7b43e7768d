import { equal } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { createAndBegin, headOf, newSession } from './session-script.ts'
import type { StoreSubject } from './store-subject.ts'

/** What a run has used, with as many tokens. */
export const used = (totalTokens: number) => ({
  inputTokens: totalTokens - 1,
  outputTokens: 1,
  totalTokens,
  cost: totalTokens / 1000,
  modelCalls: 2,
  durationMs: 1.5,
})

export const usageBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/usage/is-absent-before-the-first-word-of-it',
    run: async ({ store }) => {
      await store.createSession(newSession())
      equal((await headOf(store)).usage, undefined)
    },
  },
  {
    id: 'store/usage/is-stored-with-the-answer-before-its-tools-run',
    run: async ({ store }) => {
      const { write } = await createAndBegin(store)
      await store.beginStep({ ...write(), messages: [], journal: [], usage: used(10) })
      equal((await headOf(store)).usage, used(10))
    },
  },
  {
    id: 'store/usage/stands-until-it-is-replaced',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const id = await run.step('one', { usage: used(10) })
      await run.step('two')
      equal((await headOf(store)).usage, used(10))
      await run.step('three', { usage: used(25) })
      equal((await headOf(store)).usage, used(25))
      await run.end('failed')
      equal((await store.restoreCheckpoint('session', id, 9_000_000)).usage, used(25))
    },
  },
  {
    id: 'store/usage/begins-anew-with-a-message',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.step('one', { usage: used(10) })
      await store.appendMessages({ ...run.write(), messages: [], usage: used(1) })
      equal((await headOf(store)).usage, used(1))
    },
  },
]
