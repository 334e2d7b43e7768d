import type {
  RequestAnswer,
  RequestResolution,
  SessionStateStore,
} from '@helix-agents/core/runtime'
import { equal, rejectsWithCode } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { HOSTILE_TEXTS, HOSTILE_VALUES } from '../hostile-behaviours.ts'
import { headOf, newSession, START } from '../session-script.ts'
import {
  answer,
  APPROVED,
  ask,
  asking,
  DENIED,
  inStep,
  requestFor,
  requestOf,
  resolved,
  wrong,
} from './request-script.ts'
import type { StoreSubject } from '../store-subject.ts'

export const answerBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/answer/first-one-counts',
    run: async ({ store }) => {
      await asking(store, ['a'])
      const first = { ...DENIED, by: 'first', at: START + 5 }
      const one = await store.resolveRequest('session', 'request-a', first)
      equal([one.isFirst, one.request.resolution], [true, first])
      const two = await answer(store, 'a')
      equal([two.isFirst, two.request.resolution], [false, first])
      equal((await requestOf(store, 'a')).resolution, first)
    },
  },
  {
    id: 'store/answer/one-of-many-concurrent-counts',
    run: async ({ store }) => {
      await asking(store, ['a'])
      const given = Array.from({ length: 10 }, (_, index) => ({
        ...(index % 2 === 0 ? APPROVED : DENIED),
        by: `${index}`,
        at: START,
      }))
      const all = await Promise.all(
        given.map((one) => store.resolveRequest('session', 'request-a', one)),
      )
      const first = all.filter(({ isFirst }) => isFirst)
      equal(first.length, 1)
      const stored = (await requestOf(store, 'a')).resolution
      for (const { request } of all) equal(request.resolution, stored)
    },
  },
  {
    id: 'store/answer/keeps-all-that-is-said',
    run: async ({ store }) => {
      const answers: RequestAnswer[] = [
        { decision: 'approve', editedArguments: '{ "n" : 1.0 }', remember: 'session', reason: 'r' },
        { decision: 'deny', reason: 'x'.repeat(600_000) },
        { decision: 'deny' },
        ...HOSTILE_TEXTS.map((reason) => ({ decision: 'deny', reason }) as const),
        ...[null, ...HOSTILE_VALUES].map((output) => ({ decision: 'output', output }) as const),
      ]
      await asking(
        store,
        answers.map((_, index) => `${index}`),
      )
      for (const [index, given] of answers.entries()) {
        const resolution = { ...given, by: 'someone', at: START + index }
        await store.resolveRequest('session', `request-${index}`, resolution)
        equal((await requestOf(store, `${index}`)).resolution, resolution)
      }
    },
  },
  {
    id: 'store/answer/comes-too-late-once-it-is-expired',
    run: async ({ store }) => {
      const run = await inStep(store, ['a', 'b', 'c'])
      const expiresAt = START + 100
      await ask(store, run, ...['a', 'b', 'c'].map((call) => requestFor(call, { expiresAt })))
      const resolve = async (call: string, resolution: RequestResolution): Promise<unknown> => {
        const answered = await store.resolveRequest('session', `request-${call}`, resolution)
        equal((await requestOf(store, call)).resolution, answered.request.resolution)
        return [answered.isFirst, answered.request.resolution]
      }
      const late = resolved(APPROVED, expiresAt)
      equal(await resolve('a', late), [false, { decision: 'expired', at: expiresAt }])
      const onTime = resolved(APPROVED, expiresAt - 1)
      equal(await resolve('b', onTime), [true, onTime])
      const cancelled = { decision: 'cancelled', at: expiresAt + 5 } as const
      equal(await resolve('c', cancelled), [true, cancelled])
      equal(await store.startRequest({ ...run.write(), requestId: 'request-a' }), false)
    },
  },
  {
    id: 'store/answer/needs-no-run-and-changes-no-session',
    run: async ({ store }) => {
      const run = await asking(store, ['a'])
      await run.end('interrupted')
      const { version, updatedAt } = await headOf(store)
      equal((await answer(store, 'a')).isFirst, true)
      const head = await headOf(store)
      equal([head.version, head.updatedAt], [version, updatedAt])
    },
  },
  {
    id: 'store/answer/rejects-what-it-cannot-keep',
    run: async ({ store }) => {
      await asking(store, ['a'])
      const bad = [
        { decision: 'yes' },
        { decision: 'approve', by: 'x'.repeat(1025) },
        { decision: 'output', output: 1n },
      ]
      for (const given of bad) {
        const resolution = wrong({ ...given, at: START })
        await rejectsWithCode('not-storable', () =>
          store.resolveRequest('session', 'request-a', resolution),
        )
      }
      equal((await requestOf(store, 'a')).resolution, undefined)
    },
  },
  {
    id: 'store/answer/is-remembered-for-its-subject',
    run: async ({ store }) => {
      await askingFor(store, { a: 'same', b: 'denied', c: 'edited', d: 'once' })
      const remember = 'session'
      await answer(store, 'a', { decision: 'approve', remember })
      await answer(store, 'b', wrong({ ...DENIED, remember }))
      await answer(store, 'c', { decision: 'approve', remember, editedArguments: '{}' })
      await answer(store, 'd')
      equal(await store.isRemembered('session', 'same'), true)
      for (const subject of ['denied', 'edited', 'once', 'sam', '']) {
        equal(await store.isRemembered('session', subject), false)
      }
    },
  },
  {
    id: 'store/answer/is-remembered-for-its-session',
    run: async ({ store }) => {
      await store.createSession(newSession({ sessionId: 'other' }))
      const run = await askingFor(store, { a: 'same' })
      await answer(store, 'a', { decision: 'approve', remember: 'session' })
      await run.step('over')
      await run.end()
      equal(await store.isRemembered('session', 'same'), true)
      equal(await store.isRemembered('other', 'same'), false)
      await rejectsWithCode('not-found', () => store.isRemembered('unknown', 'same'))
    },
  },
]

/** Asks for calls with these subjects. */
async function askingFor(store: SessionStateStore, subjects: Readonly<Record<string, string>>) {
  const run = await inStep(store, Object.keys(subjects))
  const requests = Object.entries(subjects).map(([call, subject]) => requestFor(call, { subject }))
  await ask(store, run, ...requests)
  return run
}
