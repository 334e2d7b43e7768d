// A database that fails: a ledger is not made, and its store says that it is away.
import { type SqlDatabase, SqlError } from '@helix-agents/store-sql'
import { describe, expect, test } from 'vitest'
import { migrateFleet } from '../../src/sql/fleet-schema.ts'
import { SqlFleetStore } from '../../src/sql/sql-fleet-store.ts'
import { toFleetError } from '../../src/sql/to-fleet-error.ts'
import { newRecord } from '../store/store-samples.ts'

const failure = new SqlError('busy', 'locked')
const failing = {
  read: () => Promise.reject(failure),
  write: () => Promise.reject(failure),
  onForeignWrite: () => () => {},
} satisfies SqlDatabase

test('a ledger that cannot be made is no ledger', async () => {
  await expect(migrateFleet(failing)).rejects.toBe(failure)
  const empty = { ...failing, read: async () => 0 as never }
  await expect(migrateFleet(empty)).rejects.toBe(failure)
})

describe('a store', () => {
  const store = new SqlFleetStore(failing)

  test.each([
    ['reads', () => store.get('a')],
    ['lists', () => store.list()],
    ['counts', () => store.counts()],
    ['writes', () => store.create(newRecord('a'))],
    ['leases', () => store.releaseLease({ name: 'a', token: 1 })],
  ])('that %s says why it cannot', async (_, work) => {
    await expect(work()).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the database of the ledger failed (busy)',
      cause: failure,
    })
  })
})

test('what is damaged is told from what is away; other errors stay what they are', () => {
  const damaged = new SqlError('corrupt', 'torn')
  expect(toFleetError(damaged)).toMatchObject({
    code: 'corrupt',
    message: 'the ledger cannot be read',
    cause: damaged,
  })
  const mistake = new RangeError('x')
  expect(toFleetError(mistake)).toBe(mistake)
})
