import { check, equal, rejectsWithCode } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { HOSTILE_TEXTS } from '../hostile-behaviours.ts'
import { beginRun, headOf, LEASE_MS, newSession, START } from '../session-script.ts'
import {
  answer,
  ask,
  asking,
  askingBelow,
  beginStep,
  DENIED,
  inStep,
  liveCallsOf,
  requestFor,
  requestOf,
  wrong,
} from './request-script.ts'
import type { StoreSubject } from '../store-subject.ts'

export const requestBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/request/keeps-all-that-is-asked',
    run: async ({ store }) => {
      const run = await inStep(store)
      const full = requestFor('a', {
        arguments: '{ "path" :"\\ud800", "n": 1.0 }',
        preview: {
          title: 'write a',
          body: '-1\n+2',
          format: 'diff',
          truncated: true,
          basis: { digest: ['x', null] },
        },
        kind: 'client-tool',
        subject: 'subject',
        expiresAt: START + 9,
      })
      const plain = requestFor('b', { kind: 'question' })
      equal(await ask(store, run, full, plain), [full, plain])
      for (const given of [full, plain]) equal(await requestOf(store, given.toolCallId), given)
      equal(await store.loadRequests('session'), [full, plain])
      equal((await store.listRequests({ now: START })).items, [full, plain])
    },
  },
  {
    id: 'store/request/keeps-hostile-texts',
    run: async ({ store }) => {
      const calls = HOSTILE_TEXTS.map((_, index) => `call-${index}`)
      const run = await inStep(store, calls)
      const requests = HOSTILE_TEXTS.map((text, index) =>
        requestFor(`call-${index}`, {
          requestId: `id-${index} ${text}`,
          toolName: text,
          arguments: text,
          agentPath: [text],
          preview: { title: text, body: text, basis: { [text]: text } },
          subject: text,
        }),
      )
      await ask(store, run, ...requests)
      equal(await store.loadRequests('session'), requests)
      for (const request of requests) {
        equal(await store.getRequest('session', request.requestId), request)
      }
    },
  },
  {
    id: 'store/request/keeps-long-arguments',
    run: async ({ store }) => {
      const run = await inStep(store)
      const long = `{"text":"${'\u{1f600}x'.repeat(200_000)}"}`
      await ask(store, run, requestFor('a', { arguments: long }))
      check((await requestOf(store, 'a')).arguments === long, 'all of the arguments')
    },
  },
  {
    id: 'store/request/one-per-call',
    run: async ({ store }) => {
      const run = await asking(store, ['a', 'b'])
      await answer(store, 'a', DENIED)
      const again = ['b', 'c', 'a'].map((call) => requestFor(call, { requestId: `new-${call}` }))
      const stored = await ask(store, run, ...again)
      equal(
        stored.map(({ requestId, resolution }) => [requestId, resolution?.decision]),
        [
          ['request-b', undefined],
          ['new-c', undefined],
          ['request-a', 'deny'],
        ],
      )
      equal((await store.listRequests({ now: START })).items.length, 3)
      const once = requestFor('d')
      equal(await ask(store, run, once, requestFor('d', { requestId: 'other' })), [once, once])
      equal(await liveCallsOf(store), ['a', 'b', 'c', 'd'])
    },
  },
  {
    id: 'store/request/does-not-speak-for-a-later-step',
    run: async ({ store }) => {
      const run = await asking(store, ['a'])
      await answer(store, 'a')
      await store.commitStep({ ...run.write(), messages: [], checkpointId: 'cp' })
      equal(await liveCallsOf(store), [])
      await beginStep(store, run, ['a'])
      const later = requestFor('a', { requestId: 'later' })
      equal(await ask(store, run, later), [later])
      equal(await store.loadRequests('session'), [later])
    },
  },
  {
    id: 'store/request/fences-the-run',
    run: async ({ store }) => {
      const old = await asking(store, ['a'])
      await answer(store, 'a')
      await beginRun(store, { runId: 'run-2', now: START + LEASE_MS })
      const { version } = await headOf(store)
      const requestId = 'request-a'
      const other = requestFor('b')
      await rejectsWithCode('conflict', () => ask(store, old, other))
      await rejectsWithCode('conflict', () => store.startRequest({ ...old.write(), requestId }))
      await rejectsWithCode('conflict', () =>
        store.replaceRequest({ ...old.write(), requestId, request: other }),
      )
      equal((await headOf(store)).version, version)
      equal((await requestOf(store, 'a')).startedAt, undefined)
      equal(await store.getRequest('session', other.requestId), undefined)
    },
  },
  {
    id: 'store/request/is-not-that-of-another-session',
    run: async ({ store }) => {
      await asking(store, ['a'])
      await store.createSession(newSession({ sessionId: 'other' }))
      for (const sessionId of ['other', 'unknown']) {
        equal(await store.getRequest(sessionId, 'request-a'), undefined)
        await rejectsWithCode('not-found', () =>
          store.resolveRequest(sessionId, 'request-a', { decision: 'approve', at: START }),
        )
      }
      equal(await store.getRequest('session', 'request-b'), undefined)
      await rejectsWithCode('not-found', () => answer(store, 'b'))
      equal((await requestOf(store, 'a')).resolution, undefined)
    },
  },
  {
    id: 'store/request/id-is-used-once',
    run: async ({ store }) => {
      const run = await asking(store, ['a'])
      const { version } = await headOf(store)
      const taken = requestFor('c', { requestId: 'request-a' })
      await rejectsWithCode('conflict', () => ask(store, run, requestFor('b'), taken))
      const alike = ['b', 'c'].map((call) => requestFor(call, { requestId: 'alike' }))
      await rejectsWithCode('conflict', () => ask(store, run, ...alike))
      equal((await headOf(store)).version, version)
      equal(await liveCallsOf(store), ['a'])
    },
  },
  {
    id: 'store/request/rejects-what-it-cannot-keep',
    run: async ({ store }) => {
      const run = await inStep(store)
      const long = 'x'.repeat(1025)
      const bad = [
        { requestId: long },
        { toolCallId: long },
        { subject: long },
        { agentPath: ['agent', long] },
        { preview: { title: '', basis: wrong(1n) } },
        { askingSessionId: 'other' },
      ]
      for (const over of bad) {
        await rejectsWithCode('not-storable', () =>
          ask(store, run, requestFor('a'), requestFor('b', over)),
        )
      }
      equal(await liveCallsOf(store), [])
    },
  },
  {
    id: 'store/request/is-listed-by-a-session-that-exists',
    run: async ({ store }) => {
      const run = await asking(store, ['a'])
      const request = requestFor('b', { sessionId: 'unknown' })
      await rejectsWithCode('not-found', () => ask(store, run, request))
      await rejectsWithCode('not-found', () =>
        store.replaceRequest({ ...run.write(), requestId: 'request-a', request }),
      )
      equal(await liveCallsOf(store), ['a'])
      equal((await requestOf(store, 'a')).replacedBy, undefined)
    },
  },
  {
    id: 'store/request/of-a-sub-agent-is-listed-by-its-root',
    run: async ({ store }) => {
      await asking(store, ['a'])
      await askingBelow(store)
      const listed = async (sessionId: string): Promise<unknown> =>
        (await store.listRequests({ sessionId, now: START })).items.map((one) => one.toolCallId)
      equal(await listed('session'), ['a', 's'])
      equal(await listed('session/sub'), [])
      equal(await liveCallsOf(store), ['a'])
      equal(await liveCallsOf(store, 'session/sub'), ['s'])
      equal((await requestOf(store, 's')).agentPath, ['agent', 'sub'])
      equal((await answer(store, 's')).isFirst, true)
    },
  },
  {
    id: 'store/request/starts-once',
    run: async ({ store }) => {
      const run = await asking(store, ['a', 'b', 'c'])
      await answer(store, 'a')
      await answer(store, 'b', DENIED)
      const start = (call: string): Promise<boolean> =>
        store.startRequest({ ...run.write(), requestId: `request-${call}` })
      equal([await start('a'), await start('a')], [true, false])
      equal([await start('b'), await start('c'), await start('d')], [false, false, false])
      check((await requestOf(store, 'a')).startedAt !== undefined, 'when it was started')
      equal((await requestOf(store, 'b')).startedAt, undefined)
    },
  },
  {
    id: 'store/request/is-replaced-by-another-one',
    run: async ({ store }) => {
      const run = await asking(store, ['a', 'b'])
      await answer(store, 'b')
      for (const call of ['a', 'b']) {
        const request = requestFor(call, { requestId: `new-${call}` })
        await store.replaceRequest({ ...run.write(), requestId: `request-${call}`, request })
      }
      const [a, b] = [await requestOf(store, 'a'), await requestOf(store, 'b')]
      equal([a.resolution?.decision, a.replacedBy], ['cancelled', 'new-a'])
      equal([b.resolution?.decision, b.replacedBy], ['approve', 'new-b'])
      const live = await store.loadRequests('session')
      equal(
        live.map(({ requestId, resolution }) => [requestId, resolution]),
        [
          ['new-a', undefined],
          ['new-b', undefined],
        ],
      )
      const start = { ...run.write(), requestId: 'request-b' }
      equal(await store.startRequest(start), false)
    },
  },
  {
    id: 'store/request/is-not-replaced-once-it-runs',
    run: async ({ store }) => {
      const run = await asking(store, ['a'])
      await answer(store, 'a')
      await store.startRequest({ ...run.write(), requestId: 'request-a' })
      const request = requestFor('a', { requestId: 'new' })
      for (const requestId of ['request-a', 'unknown']) {
        await rejectsWithCode('conflict', () =>
          store.replaceRequest({ ...run.write(), requestId, request }),
        )
      }
      equal(
        [(await requestOf(store, 'a')).replacedBy, await liveCallsOf(store)],
        [undefined, ['a']],
      )
    },
  },
]
