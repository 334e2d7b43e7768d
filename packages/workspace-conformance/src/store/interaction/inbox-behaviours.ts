import type { MessageDelivery, RunWrite, SessionStateStore } from '@helix-agents/core/runtime'
import { check, equal, equalBytes, patternBytes, rejectsWithCode } from '../../assert.ts'
import type { Behaviour } from '../../behaviour.ts'
import { HOSTILE_TEXTS } from '../hostile-behaviours.ts'
import {
  beginRun,
  contentsOf,
  createAndBegin,
  headOf,
  LEASE_MS,
  newSession,
  START,
} from '../session-script.ts'
import { queued, wrong } from './request-script.ts'
import type { StoreSubject } from '../store-subject.ts'

export const inboxBehaviours: readonly Behaviour<StoreSubject>[] = [
  {
    id: 'store/inbox/keeps-messages-in-order',
    run: async ({ store }) => {
      await store.createSession(newSession())
      await queueAll(store, 'b', 'a')
      await store.queueMessage(queued('c', { delivery: 'followUp', createdAt: START + 9 }))
      await queueAll(store, 'd')
      equal(await idsOf(store), ['b', 'a', 'c', 'd'])
      equal(await idsOf(store, 'steer'), ['b', 'a', 'd'])
      equal(await idsOf(store, 'followUp'), ['c'])
      const [first, , third] = await store.listQueuedMessages('session')
      equal([first?.message, third?.createdAt], [queued('b').message, START + 9])
      equal([first?.delivery, third?.delivery, first?.sessionId], ['steer', 'followUp', 'session'])
    },
  },
  {
    id: 'store/inbox/keeps-files-and-hostile-texts',
    run: async ({ store }) => {
      await store.createSession(newSession())
      const data = patternBytes(300_000)
      const files = [{ data, mediaType: 'image/png', filename: 'a.png' }]
      const message = { role: 'user', content: 'see', files, metadata: { n: [null] } } as const
      await store.queueMessage(queued('file', { message }))
      for (const [index, content] of HOSTILE_TEXTS.entries()) {
        const messageId = `${index} ${content}`
        await store.queueMessage(queued(messageId, { message: { role: 'user', content } }))
      }
      const [file, ...texts] = await store.listQueuedMessages('session')
      const bytes = file?.message.files?.[0]?.data
      check(bytes instanceof Uint8Array, 'the bytes of the file')
      equalBytes(bytes, data)
      equal(file?.message.metadata, { n: [null] })
      equal(
        texts.map(({ messageId, message: { content } }) => [messageId, content]),
        HOSTILE_TEXTS.map((content, index) => [`${index} ${content}`, content]),
      )
    },
  },
  {
    id: 'store/inbox/stores-an-id-once',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await queueAll(store, 'a', 'b', 'c', 'a')
      await deliver(store, run.write(), 'b')
      await store.removeQueuedMessage('session', 'c')
      const other = { message: { role: 'user', content: 'other' }, delivery: 'followUp' } as const
      for (const messageId of ['a', 'b', 'c']) await store.queueMessage(queued(messageId, other))
      const left = await store.listQueuedMessages('session')
      equal(
        left.map(({ messageId, delivery, message }) => [messageId, delivery, message.content]),
        [['a', 'steer', 'text of a']],
      )
      await store.createSession(newSession({ sessionId: 'other' }))
      await store.queueMessage(queued('b', { sessionId: 'other' }))
      equal((await store.listQueuedMessages('other')).length, 1)
    },
  },
  {
    id: 'store/inbox/delivers-in-the-order-given',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.append('before')
      await queueAll(store, 'a', 'b', 'c', 'd')
      await store.removeQueuedMessage('session', 'd')
      const { version } = await headOf(store)
      const moved = await deliver(store, run.write(), 'c', 'a', 'c', 'd', 'unknown')
      equal(moved, [queued('c'), queued('a')])
      equal(await contentsOf(store), ['before', 'text of c', 'text of a'])
      const head = await headOf(store)
      equal([head.messageCount, head.version > version], [3, true])
      equal(await idsOf(store), ['b'])
    },
  },
  {
    id: 'store/inbox/delivers-once',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await queueAll(store, 'a', 'b')
      const write = run.write()
      const both = await Promise.all([deliver(store, write, 'a'), deliver(store, write, 'a', 'b')])
      equal(
        both.flat().map(({ messageId }) => messageId),
        ['a', 'b'],
      )
      equal(await contentsOf(store), ['text of a', 'text of b'])
    },
  },
  {
    id: 'store/inbox/delivering-clears-the-outcome',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await run.step('one', { outcome: { status: 'completed' } })
      await queueAll(store, 'a')
      await deliver(store, run.write(), 'unknown')
      equal((await headOf(store)).outcome?.status, 'completed')
      await deliver(store, run.write(), 'a')
      equal((await headOf(store)).outcome, undefined)
    },
  },
  {
    id: 'store/inbox/delivers-to-the-run-that-holds-the-session',
    run: async ({ store }) => {
      const old = await createAndBegin(store)
      await queueAll(store, 'a')
      const next = await beginRun(store, { runId: 'run-2', now: START + LEASE_MS })
      for (const ids of [['a'], []]) {
        await rejectsWithCode('conflict', () => deliver(store, old.write(), ...ids))
      }
      equal([await contentsOf(store), await idsOf(store)], [[], ['a']])
      equal((await deliver(store, next.write(), 'a')).length, 1)
    },
  },
  {
    id: 'store/inbox/removes-what-was-not-delivered',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      await queueAll(store, 'a', 'b')
      await deliver(store, run.write(), 'b')
      const remove = (id: string): Promise<boolean> => store.removeQueuedMessage('session', id)
      equal([await remove('a'), await remove('a')], [true, false])
      equal([await remove('b'), await remove('unknown')], [false, false])
      equal([await idsOf(store), await contentsOf(store)], [[], ['text of b']])
    },
  },
  {
    id: 'store/inbox/outlives-runs-and-restoring',
    run: async ({ store }) => {
      const run = await createAndBegin(store)
      const id = await run.step('one')
      await queueAll(store, 'a')
      await run.end()
      await store.restoreCheckpoint('session', id, START + 1)
      await beginRun(store, { runId: 'run-2' })
      equal(await idsOf(store), ['a'])
    },
  },
  {
    id: 'store/inbox/is-of-one-session',
    run: async ({ store }) => {
      await store.createSession(newSession())
      await store.createSession(newSession({ sessionId: 'other' }))
      await queueAll(store, 'a')
      equal(await store.listQueuedMessages('other'), [])
      equal(await store.removeQueuedMessage('other', 'a'), false)
      const unknown = { sessionId: 'unknown' }
      await rejectsWithCode('not-found', () => store.queueMessage(queued('b', unknown)))
      await rejectsWithCode('not-found', () => store.listQueuedMessages('unknown'))
      await rejectsWithCode('not-found', () => store.removeQueuedMessage('unknown', 'a'))
      await store.deleteSession('session')
      await store.createSession(newSession())
      equal(await idsOf(store), [])
    },
  },
  {
    id: 'store/inbox/rejects-what-it-cannot-keep',
    run: async ({ store }) => {
      await store.createSession(newSession())
      const bad = [
        queued('x'.repeat(1025)),
        queued('a', { message: wrong({ role: 'assistant', content: '' }) }),
        queued('a', { message: wrong({ role: 'user', content: 1 }) }),
        queued('a', { message: { role: 'user', content: 'x'.repeat(8_388_609) } }),
      ]
      for (const message of bad) {
        await rejectsWithCode('not-storable', () => store.queueMessage(message))
      }
      equal(await idsOf(store), [])
    },
  },
]

async function queueAll(store: SessionStateStore, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await store.queueMessage(queued(id))
}

async function idsOf(
  store: SessionStateStore,
  delivery?: MessageDelivery,
): Promise<readonly string[]> {
  const messages = await store.listQueuedMessages('session', delivery)
  return messages.map(({ messageId }) => messageId)
}

function deliver(store: SessionStateStore, write: RunWrite, ...messageIds: readonly string[]) {
  return store.deliverMessages({ ...write, messageIds })
}
