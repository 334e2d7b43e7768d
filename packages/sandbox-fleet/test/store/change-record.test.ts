import { MemoryFleetStore, type SandboxRecord } from '@helix-agents/sandbox-fleet'
import { describe, expect, test } from 'vitest'
import { changeRecord } from '../../src/store/change-record.ts'
import { newRecord } from './store-samples.ts'

/** A ledger in which somebody else changes the record before the first writes arrive. */
async function contested(times: number): Promise<MemoryFleetStore> {
  const store = new MemoryFleetStore()
  await store.create(newRecord('a'))
  const update = store.update.bind(store)
  let left = times
  store.update = async (...call) => {
    if (left > 0) {
      left -= 1
      const current = (await store.get('a')) ?? newRecord('a')
      await update({
        ...current,
        version: current.version + 1,
        operations: current.operations + 1,
      })
    }
    await update(...call)
  }
  return store
}

const next = (record: SandboxRecord): SandboxRecord => ({
  ...record,
  version: record.version + 1,
  critical: true,
})

describe('a change', () => {
  test('is decided anew on what others have written', async () => {
    const store = await contested(7)
    const changed = await changeRecord(store, 'a', next)
    expect(changed).toMatchObject({ critical: true, operations: 7, version: 9 })
    expect(await store.get('a')).toEqual(changed)
  })

  test('gives up when others are always faster', async () => {
    const store = await contested(8)
    await expect(changeRecord(store, 'a', next)).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.get('a')).toMatchObject({ critical: false, operations: 8 })
  })

  test('may leave it as it is', async () => {
    const store = await contested(1)
    expect(await changeRecord(store, 'a', () => undefined)).toEqual(newRecord('a'))
    expect(await store.get('a')).toEqual(newRecord('a'))
  })

  test('of a record that is not there is refused, and any other failure is passed on', async () => {
    const store = new MemoryFleetStore()
    await expect(changeRecord(store, 'a', next)).rejects.toMatchObject({ code: 'unknown-sandbox' })
    await store.create(newRecord('a'))
    const fence = { name: 'sweep', token: 1 }
    let calls = 0
    const counted = (record: SandboxRecord): SandboxRecord => {
      calls += 1
      return next(record)
    }
    const change = changeRecord(store, 'a', counted, { fence })
    await expect(change).rejects.toMatchObject({ code: 'lease-lost' })
    expect(calls).toBe(1)
  })
})
