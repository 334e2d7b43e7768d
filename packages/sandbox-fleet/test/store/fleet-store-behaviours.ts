import { expect } from 'vitest'
import type { SandboxRecord } from '@helix-agents/sandbox-fleet'
import { applyEvent } from '../../src/ledger/lifecycle.ts'
import { withLease } from '../../src/ledger/record-changes.ts'
import { listBehaviours } from './list-behaviours.ts'
import {
  addRunning,
  codeOf,
  type FleetStoreBehaviour,
  gone,
  killed,
  listAll,
  newRecord,
  NOW,
  started,
} from './store-samples.ts'

const recordBehaviours: readonly FleetStoreBehaviour[] = [
  {
    id: 'records/are-kept-as-they-are',
    run: async (store) => {
      const record = newRecord('a', {
        sessionId: 's "quoted" ☃',
        agentType: 'coder',
        taskId: 't',
        tenant: 'n',
        critical: true,
        deadlineAt: NOW + 5,
        lease: { kind: 'owner', holder: 'me', until: NOW + 10 },
      })
      expect(await store.create(record)).toEqual(record)
      expect(await store.get('a')).toEqual(record)
      expect(await store.get('b')).toBeUndefined()
    },
  },
  {
    id: 'records/labels-of-any-text-are-kept-and-found',
    run: async (store) => {
      const labels = ['a\0b', '\0', '"quoted"', '~mark', "'; DROP TABLE x; --", '\uD800', '☃']
      for (const [n, label] of labels.entries()) {
        const record = newRecord(`a${n}`, { environment: label, sessionId: label, tenant: label })
        expect(await store.create(record, { maxActive: 1 })).toEqual(record)
        expect(await store.get(`a${n}`)).toEqual(record)
        expect(await listAll(store, { sessionId: label, tenant: label })).toEqual([`a${n}`])
        expect(await store.counts(label)).toMatchObject({ provisioning: 1 })
        await store.writeState(label, label)
        expect(await store.readState(label)).toBe(label)
        const request = { name: label, holder: label, ttlMs: 1000, now: NOW }
        expect(await store.acquireLease(request)).toBe(1)
        expect(await store.acquireLease(request)).toBe(1)
      }
    },
  },
  {
    id: 'records/what-could-not-be-read-again-is-rejected',
    run: async (store) => {
      const record = await addRunning(store, 'a')
      const next = { ...record, version: record.version + 1 }
      const broken: readonly Partial<SandboxRecord>[] = [
        { samples: [{ at: NOW, cpuPercent: Number.NaN, memoryMb: 1 }] },
        { lastError: { code: '', message: 'x', at: NOW } },
        { lease: { kind: 'pool', holder: '', until: NOW } },
        { lease: { kind: 'owner', holder: 'x'.repeat(300), until: NOW } },
        { lastActivityAt: Number.POSITIVE_INFINITY },
        { deadlineAt: 1e300 },
        { history: Array.from({ length: 100 }, () => record.history[0]!) },
      ]
      for (const fields of broken) {
        expect(await codeOf(store.update({ ...next, ...fields }))).toBe('invalid-record')
        expect(await codeOf(store.create({ ...newRecord('b'), ...fields }))).toBe('invalid-record')
      }
      expect(await store.get('a')).toEqual(record)
      expect(await store.counts('test')).toMatchObject({ running: 1, created: 1 })
    },
  },
  {
    id: 'records/errors-of-any-length-are-kept-readable',
    run: async (store) => {
      const record = await addRunning(store, 'a')
      const error = { code: 'c'.repeat(999), message: 'm'.repeat(1e6) }
      await store.update(applyEvent(record, { type: 'fail', error }, NOW))
      expect(await store.get('a')).toMatchObject({ status: 'failed' })
    },
  },
  {
    id: 'leases/one-of-a-wrong-clock-keeps-nobody-out',
    run: async (store) => {
      const request = { name: 'sweep', holder: 'ahead', ttlMs: 1000, now: NOW + 1e12 }
      expect(await store.acquireLease(request)).toBe(1)
      expect(await store.acquireLease({ ...request, holder: 'right', now: NOW })).toBe(2)
    },
  },
  {
    id: 'records/a-live-id-is-taken',
    run: async (store) => {
      await store.create(newRecord('a'))
      expect(await codeOf(store.create(newRecord('a')))).toBe('already-exists')
    },
  },
  {
    id: 'records/an-id-that-is-gone-starts-a-new-life',
    run: async (store) => {
      const first = await addRunning(store, 'a', { sessionId: 'old' })
      await store.update(gone(first))
      const second = await store.create(newRecord('a', { sessionId: 'new' }))
      expect(second).toMatchObject({ generation: 2, status: 'provisioning', sessionId: 'new' })
      expect(second.history.length).toBeGreaterThan(3)
      expect(await store.get('a')).toEqual(second)
      const counts = { created: 2, destroyed: 1, provisioning: 1, terminated: 0 }
      expect(await store.counts('test')).toMatchObject(counts)
    },
  },
  {
    id: 'records/may-be-running-from-the-first-write',
    run: async (store) => {
      const record = started(newRecord('a'))
      expect(await store.create(record)).toEqual(record)
      expect(await store.get('a')).toEqual(record)
      await store.update(gone(record))
      const second = await store.create(record)
      expect(second).toMatchObject({ generation: 2, status: 'running' })
      expect(await store.get('a')).toEqual(second)
      const counts = { created: 2, destroyed: 1, provisioning: 0, running: 1, terminated: 0 }
      expect(await store.counts('test')).toMatchObject(counts)
    },
  },
  {
    id: 'records/an-id-of-another-environment-is-taken',
    run: async (store) => {
      const first = await addRunning(store, 'a')
      await store.update(gone(first))
      const other = newRecord('a', { environment: 'other' })
      expect(await codeOf(store.create(other))).toBe('already-exists')
    },
  },
  {
    id: 'updates/follow-the-version-before',
    run: async (store) => {
      const record = await store.create(newRecord('a'))
      await store.update(started(record))
      expect(await codeOf(store.update(started(record)))).toBe('conflict')
      expect((await store.get('a'))?.version).toBe(2)
    },
  },
  {
    id: 'updates/need-a-record',
    run: async (store) => {
      expect(await codeOf(store.update(started(newRecord('a'))))).toBe('unknown-sandbox')
    },
  },
  {
    id: 'updates/one-of-many-at-once-wins',
    run: async (store) => {
      const record = await store.create(newRecord('a'))
      const results = await Promise.all(
        Array.from({ length: 10 }, () => codeOf(store.update(started(record)))),
      )
      expect(results.filter((result) => result === 'no error')).toHaveLength(1)
      expect(results.filter((result) => result === 'conflict')).toHaveLength(9)
    },
  },
  {
    id: 'admission/never-more-than-allowed',
    run: async (store) => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          codeOf(store.create(newRecord(`a${n}`), { maxActive: 7 })),
        ),
      )
      expect(results.filter((result) => result === 'no error')).toHaveLength(7)
      expect(results.filter((result) => result === 'capacity-exhausted')).toHaveLength(13)
      expect((await store.counts('test')).provisioning).toBe(7)
    },
  },
  {
    id: 'admission/another-environment-takes-no-room',
    run: async (store) => {
      await store.create(newRecord('a', { environment: 'other' }), { maxActive: 1 })
      await store.create(newRecord('b'), { maxActive: 1 })
      expect((await store.counts()).provisioning).toBe(2)
      expect((await store.counts('test')).provisioning).toBe(1)
    },
  },
  {
    id: 'admission/what-waits-for-its-session-takes-no-room',
    run: async (store) => {
      const record = await addRunning(store, 'a')
      await store.update(withLease(record, { kind: 'detached', holder: 's', until: NOW + 1 }))
      expect(await store.counts('test')).toMatchObject({ running: 0, detached: 1 })
      await store.create(newRecord('b'), { maxActive: 1 })
    },
  },
  {
    id: 'list/knows-when-the-oldest-record-begins',
    run: async (store) => {
      expect(await store.firstCreatedAt('test')).toBeUndefined()
      await store.create({ ...newRecord('a'), createdAt: NOW - 5 })
      await store.create({ ...newRecord('b'), createdAt: NOW - 9 })
      expect(await store.firstCreatedAt('test')).toBe(NOW - 5)
      expect(await store.firstCreatedAt('nowhere')).toBeUndefined()
    },
  },
  {
    id: 'counts/follow-every-change',
    run: async (store) => {
      const record = await addRunning(store, 'a')
      expect(await store.counts('test')).toMatchObject({ running: 1, created: 1, destroyed: 0 })
      const doomed = killed(record)
      await store.update(doomed)
      expect(await store.counts('test')).toMatchObject({ running: 0, terminating: 1 })
      await store.update(gone(doomed))
      const rest = { terminating: 0, terminated: 1, created: 1, destroyed: 1 }
      expect(await store.counts('test')).toMatchObject(rest)
      expect(await store.counts('nowhere')).toMatchObject({ created: 0 })
    },
  },
]

/** All of them. */
export const fleetStoreBehaviours = [...recordBehaviours, ...listBehaviours]
