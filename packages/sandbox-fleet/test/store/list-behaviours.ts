import type { FleetQuery } from '@helix-agents/sandbox-fleet'
import { expect } from 'vitest'
import { withLease } from '../../src/ledger/record-changes.ts'
import {
  addRunning,
  codeOf,
  type FleetStoreBehaviour,
  gone,
  idsOf,
  killed,
  listAll,
  newRecord,
  NOW,
  started,
} from './store-samples.ts'

const hold = (until: number) => ({ lease: { kind: 'owner', holder: 'me', until } as const })

export const listBehaviours: readonly FleetStoreBehaviour[] = [
  {
    id: 'lists/page-through-everything-once-newest-first',
    run: async (store) => {
      const ids = Array.from({ length: 230 }, (_, n) => `a${n}`)
      for (const id of ids) await store.create(newRecord(id))
      expect(await listAll(store, { limit: 200 })).toEqual(ids.toReversed())
      expect(await listAll(store, { limit: 7 })).toEqual(ids.toReversed())
      expect((await store.list()).records).toHaveLength(50)
      expect((await store.list({ limit: 1_000_000 })).records).toHaveLength(200)
    },
  },
  {
    id: 'lists/the-last-page-says-so-also-when-it-is-full',
    run: async (store) => {
      for (const id of ['a', 'b']) await addRunning(store, id)
      for (const limit of [2, 3]) {
        const due = { environment: 'test', until: NOW, limit }
        expect(await store.list({ limit })).not.toHaveProperty('nextCursor')
        expect(await store.due(due)).not.toHaveProperty('nextCursor')
      }
      expect((await store.list({ limit: 1 })).nextCursor).toBeDefined()
    },
  },
  {
    id: 'lists/what-is-added-between-two-pages-is-not-in-the-way',
    run: async (store) => {
      for (const id of ['a', 'b', 'c', 'd']) await store.create(newRecord(id))
      const first = await store.list({ limit: 2 })
      await store.create(newRecord('e'))
      const second = await store.list({ limit: 2, cursor: first.nextCursor ?? '' })
      expect([...idsOf(first), ...idsOf(second)]).toEqual(['d', 'c', 'b', 'a'])
    },
  },
  {
    id: 'lists/filter-by-each-field-and-by-all',
    run: async (store) => {
      const fields = {
        provider: 'q',
        environment: 'e',
        sessionId: 's',
        agentType: 'g',
        taskId: 't',
        tenant: 'n',
      }
      await addRunning(store, 'none')
      for (const [name, value] of Object.entries(fields)) {
        await addRunning(store, `only-${name}`, { [name]: value })
      }
      await addRunning(store, 'all', fields)
      for (const [name, value] of Object.entries(fields)) {
        expect(await listAll(store, { [name]: value })).toEqual(['all', `only-${name}`])
      }
      expect(await listAll(store, { ...fields, status: 'running' })).toEqual(['all'])
      expect(await listAll(store, { ...fields, status: 'failed' })).toEqual([])
    },
  },
  {
    id: 'lists/several-statuses-come-in-one-order',
    run: async (store) => {
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await store.create(newRecord(id))
      for (const id of ['a', 'c', 'f']) await store.update(started(newRecord(id)))
      for (const id of ['b', 'e']) await store.update(killed(newRecord(id)))
      const status = ['running', 'terminating'] as const
      expect(await listAll(store, { status, limit: 2 })).toEqual(['f', 'e', 'c', 'b', 'a'])
      expect(await listAll(store, { status: ['running', 'running'] })).toEqual(['f', 'c', 'a'])
    },
  },
  {
    id: 'lists/by-age-and-by-pool',
    run: async (store) => {
      await addRunning(store, 'old', { createdAt: NOW - 100 })
      const young = await addRunning(store, 'young', { createdAt: NOW + 100 })
      expect(await listAll(store, { createdBefore: NOW })).toEqual(['old'])
      const lease = { kind: 'pool', holder: 'blue', until: NOW + 1 } as const
      await store.update(withLease(young, lease))
      expect(await listAll(store, { pool: 'blue' })).toEqual(['young'])
      expect(await listAll(store, { pool: 'red' })).toEqual([])
    },
  },
  {
    id: 'lists/refuse-what-is-no-query',
    run: async (store) => {
      const bad: readonly unknown[] = [
        { limit: 0 },
        { limit: 1.5 },
        { limit: Number.NaN },
        { status: 'asleep' },
        { status: [] },
        { cursor: 'no cursor' },
        { cursor: '' },
      ]
      for (const query of bad) {
        expect(await codeOf(store.list(query as FleetQuery))).toBe('invalid-query')
      }
      expect((await store.list({ limit: 1_000_000 })).records).toEqual([])
      const due = { environment: 'test', until: NOW, limit: 5, cursor: 'a.b.c' }
      expect(await codeOf(store.due(due))).toBe('invalid-query')
    },
  },
  {
    id: 'due/the-most-urgent-first-and-only-what-is-due',
    run: async (store) => {
      await addRunning(store, 'held', hold(NOW + 500))
      await addRunning(store, 'lapsed', hold(NOW - 500))
      await addRunning(store, 'overdue', { deadlineAt: NOW - 900, ...hold(NOW + 500) })
      await store.create(newRecord('starting'))
      await store.update(killed(await addRunning(store, 'owed'), NOW + 50))
      await store.update(gone(await addRunning(store, 'gone')))
      await addRunning(store, 'foreign', { environment: 'other' })
      const due = async (until: number) =>
        idsOf(await store.due({ environment: 'test', until, limit: 50 }))
      expect(await due(NOW)).toEqual(['overdue', 'lapsed'])
      expect(await due(NOW + 50)).toEqual(['overdue', 'lapsed', 'owed'])
      expect(await due(NOW + 5000)).toEqual(['overdue', 'lapsed', 'owed', 'held', 'starting'])
    },
  },
  {
    id: 'due/pages-through-records-of-the-same-time',
    run: async (store) => {
      const ids = Array.from({ length: 25 }, (_, n) => `a${n}`)
      for (const id of ids) await addRunning(store, id)
      const found: string[] = []
      let cursor: string | undefined
      do {
        const rest = cursor === undefined ? {} : { cursor }
        const page = await store.due({ environment: 'test', until: NOW, limit: 4, ...rest })
        found.push(...idsOf(page))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(found).toEqual(ids)
    },
  },
  {
    id: 'leases/one-holder-at-a-time-and-the-token-rises',
    run: async (store) => {
      const request = (holder: string, now: number) =>
        store.acquireLease({ name: 'sweep', holder, ttlMs: 100, now })
      const holders = ['x', 'z', 'w']
      const tokens = await Promise.all(holders.map((holder) => request(holder, NOW)))
      expect(tokens.filter((token) => token !== undefined)).toEqual([1])
      // On a server, any of those at once may be the first.
      const first = holders[tokens.indexOf(1)] ?? ''
      expect(await request(first, NOW + 50)).toBe(1)
      expect(await request('y', NOW + 149)).toBeUndefined()
      expect(await request('y', NOW + 150)).toBe(2)
      await store.releaseLease({ name: 'sweep', token: 1 })
      expect(await request('x', NOW + 160)).toBeUndefined()
      await store.releaseLease({ name: 'sweep', token: 2 })
      expect(await request('x', NOW + 160)).toBe(3)
      expect(await store.acquireLease({ name: 'other', holder: 'y', ttlMs: 1, now: NOW })).toBe(1)
    },
  },
  {
    id: 'leases/a-writer-that-lost-it-writes-nothing',
    run: async (store) => {
      const record = await store.create(newRecord('a'))
      const request = { name: 'sweep', ttlMs: 100 }
      const token = (await store.acquireLease({ ...request, holder: 'x', now: NOW })) ?? 0
      await store.acquireLease({ ...request, holder: 'y', now: NOW + 200 })
      const late = store.update(started(record), { fence: { name: 'sweep', token } })
      expect(await codeOf(late)).toBe('lease-lost')
      expect((await store.get('a'))?.version).toBe(1)
      await store.update(started(record), { fence: { name: 'sweep', token: token + 1 } })
    },
  },
  {
    id: 'usage/is-added-up-by-minute',
    run: async (store) => {
      await store.addUsage({ executions: 5, timeouts: 1 }, NOW)
      await store.addUsage({ executions: 3, timeouts: 0 }, NOW + 1)
      await store.addUsage({ executions: 2, timeouts: 2 }, NOW + 600_000)
      expect(await store.usageSince(NOW)).toEqual({ executions: 10, timeouts: 3 })
      expect(await store.usageSince(NOW + 300_000)).toEqual({ executions: 2, timeouts: 2 })
      expect(await store.usageSince(NOW + 3_000_000)).toEqual({ executions: 0, timeouts: 0 })
    },
  },
  {
    id: 'usage/is-kept-for-a-day',
    run: async (store) => {
      const day = 24 * 3_600_000
      await store.addUsage({ executions: 1, timeouts: 0 }, NOW)
      await store.addUsage({ executions: 2, timeouts: 0 }, NOW + 60_000)
      await store.addUsage({ executions: 4, timeouts: 0 }, NOW + day)
      expect((await store.usageSince(0)).executions).toBe(7)
      await store.addUsage({ executions: 8, timeouts: 0 }, NOW + day + 60_000)
      expect((await store.usageSince(0)).executions).toBe(14)
      expect((await store.usageSince(NOW + day)).executions).toBe(12)
    },
  },
  {
    id: 'state/is-kept-by-key',
    run: async (store) => {
      expect(await store.readState('a')).toBeUndefined()
      await store.writeState('a', { n: 1, list: [null, 'x'] })
      await store.writeState('b', 'text')
      expect(await store.readState('a')).toEqual({ n: 1, list: [null, 'x'] })
      await store.writeState('a', 2)
      expect(await store.readState('a')).toBe(2)
      expect(await store.readState('b')).toBe('text')
    },
  },
  {
    id: 'prune/removes-what-is-long-gone-and-keeps-the-totals',
    run: async (store) => {
      for (const id of ['a', 'b', 'c']) await store.update(gone(await addRunning(store, id)))
      await addRunning(store, 'alive')
      expect(await store.prune({ before: NOW, limit: 10 })).toBe(0)
      expect(await store.prune({ before: NOW + 1, limit: 2 })).toBe(2)
      expect(await store.prune({ before: NOW + 1, limit: 2 })).toBe(1)
      expect(await listAll(store, {})).toEqual(['alive'])
      const counts = { created: 4, destroyed: 3, terminated: 0, running: 1 }
      expect(await store.counts('test')).toMatchObject(counts)
      await store.update(gone(await addRunning(store, 'other', { environment: 'other' })))
      expect(await store.prune({ before: NOW + 1, limit: 2 })).toBe(1)
      expect(await store.counts('other')).toMatchObject({ destroyed: 1, terminated: 0 })
      expect(await store.counts()).toMatchObject({ created: 5, destroyed: 4, terminated: 0 })
    },
  },
]
