// What all stores of the ledger have in common: queries, leases, and what may follow what.
import { FleetError } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import { NO_COUNTS } from '../../src/ledger/record-counts.ts'
import { grantLease } from '../../src/store/grant-lease.ts'
import {
  parseDueQuery,
  parseQuery,
  toCursor,
  toDueCursor,
  usageBucket,
} from '../../src/store/parse-query.ts'
import {
  assertFollows,
  assertRoom,
  leaseLost,
  noDriver,
  reviveRecord,
} from '../../src/store/revive-record.ts'
import { gone, newRecord, NOW, started } from './store-samples.ts'

/** The error that a call throws, by its fields. */
function errorOf(call: () => unknown): Partial<FleetError> {
  try {
    call()
  } catch (error) {
    if (FleetError.isInstance(error)) {
      const { code, sandboxId, hint } = error
      return { code, sandboxId, ...(hint !== undefined && { hint }) }
    }
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('a query', () => {
  test('has defaults', () => {
    expect(parseQuery({})).toEqual({
      statuses: undefined,
      equal: [],
      pool: undefined,
      createdBefore: undefined,
      limit: 50,
      below: Number.MAX_SAFE_INTEGER,
    })
  })

  test('keeps what it asks for', () => {
    const equal = {
      sessionId: 's',
      taskId: 't',
      tenant: 'n',
      agentType: 'a',
      provider: 'p',
      environment: 'e',
    }
    const query = { ...equal, status: 'failed', pool: 'o', createdBefore: 5, limit: 7 } as const
    expect(parseQuery({ ...query, cursor: toCursor(36) })).toEqual({
      statuses: ['failed'],
      equal: Object.entries(equal),
      pool: 'o',
      createdBefore: 5,
      limit: 7,
      below: 36,
    })
  })

  test.each([
    [1, 1],
    [200, 200],
    [201, 200],
  ])('for %d gets %d at most', (limit, most) => {
    expect([parseQuery({ limit }).limit, parseDueQuery({ ...due, limit }).limit]).toEqual([
      most,
      most,
    ])
  })

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('for %d is none', (limit) => {
    expect(errorOf(() => parseQuery({ limit })).code).toBe('invalid-query')
  })

  test.each(['', 'A', 'a.b', 'a'.repeat(11), '-1'])('with the cursor %j is none', (cursor) => {
    expect(errorOf(() => parseQuery({ cursor })).code).toBe('invalid-query')
  })

  test('has a cursor of ten characters at most', () => {
    const largest = 36 ** 10 - 1
    expect(parseQuery({ cursor: toCursor(largest) }).below).toBe(largest)
    expect(errorOf(() => parseQuery({ cursor: toCursor(largest + 1) })).code).toBe('invalid-query')
  })

  const due = { environment: 'test', until: NOW, limit: 1 }

  test('for what is due begins before everything, or behind its cursor', () => {
    expect(parseDueQuery(due)).toEqual({ limit: 1, after: { attentionAt: -1, key: -1 } })
    const after = { attentionAt: NOW, key: 17 }
    expect(parseDueQuery({ ...due, cursor: toDueCursor(after) }).after).toEqual(after)
  })

  test.each(['', 'a', 'a.', '.a', 'a.b.c', 'a b'])(
    'for what is due with the cursor %j is none',
    (cursor) => {
      expect(errorOf(() => parseDueQuery({ ...due, cursor })).code).toBe('invalid-query')
    },
  )
})

test('usage is kept by minute', () => {
  const times = [0, 59_999, 60_000, 119_999]
  expect(times.map(usageBucket)).toEqual([0, 0, 60_000, 60_000])
})

describe('a lease', () => {
  const request = { name: 'sweep', holder: 'me', ttlMs: 100, now: NOW }
  const held = { holder: 'other', token: 4, until: NOW + 1 }

  test('that nobody ever had is granted', () => {
    expect(grantLease(undefined, request)).toEqual({ holder: 'me', token: 1, until: NOW + 100 })
  })

  test.each([
    [NOW - 1, true],
    [NOW, true],
    [NOW + 1, false],
    [NOW + 200, false],
    // So far a lease of this length never reaches: its clock was wrong.
    [NOW + 201, true],
  ])('of another until %d is granted anew: %s', (until, isGranted) => {
    const anew = { holder: 'me', token: 5, until: NOW + 100 }
    expect(grantLease({ ...held, until }, request)).toEqual(isGranted ? anew : undefined)
  })

  test('of its holder goes on under its token', () => {
    const mine = { ...held, holder: 'me' }
    expect(grantLease(mine, request)).toEqual({ holder: 'me', token: 4, until: NOW + 100 })
  })
})

describe('a record that is made', () => {
  test('begins a new life where one has ended, in the same environment', () => {
    const record = newRecord('a')
    expect(reviveRecord(undefined, record)).toBe(record)
    const existing = gone(started(newRecord('a')))
    const later = newRecord('a', { createdAt: NOW + 9 })
    expect(reviveRecord(existing, later)).toMatchObject({
      generation: 2,
      status: 'provisioning',
      createdAt: NOW + 9,
      statusSince: NOW + 9,
      version: existing.version + 1,
    })
    const running = { ...started(later), lastActivityAt: NOW + 20 }
    expect(reviveRecord(existing, running)).toMatchObject({
      generation: 2,
      status: 'running',
      statusSince: NOW + 20,
      version: existing.version + 2,
    })
  })

  test.each([
    ['is still there', started(newRecord('a')), newRecord('a')],
    ['is of another environment', gone(newRecord('a')), newRecord('a', { environment: 'other' })],
  ])('is refused where one %s', (_, existing, record) => {
    const error = { code: 'already-exists', sandboxId: 'a' }
    expect(errorOf(() => reviveRecord(existing, record))).toEqual(error)
  })

  test('needs room', () => {
    const counts = { ...NO_COUNTS, running: 2 }
    expect(assertRoom(counts, undefined)).toBeUndefined()
    expect(assertRoom(counts, 3)).toBeUndefined()
    expect(errorOf(() => assertRoom(counts, 2))).toEqual({
      code: 'capacity-exhausted',
      sandboxId: '',
      hint: 'Try again when another sandbox has ended.',
    })
  })
})

describe('a change', () => {
  const record = newRecord('a')

  test('follows the version before', () => {
    expect(assertFollows(record, started(record))).toBeUndefined()
    for (const existing of [
      started(record),
      { ...record, version: 3 },
      { ...record, version: 0 },
    ]) {
      expect(errorOf(() => assertFollows(existing, started(record)))).toEqual({
        code: 'conflict',
        sandboxId: 'a',
      })
    }
    expect(errorOf(() => assertFollows(undefined, record))).toEqual({
      code: 'unknown-sandbox',
      sandboxId: 'a',
    })
  })

  test('that cannot be made says why', () => {
    expect([leaseLost().code, noDriver('a').code, noDriver('a').sandboxId]).toEqual([
      'lease-lost',
      'not-supported',
      'a',
    ])
  })
})
