// The same in workerd, where rows read are what is paid for.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { migrateFleet, SqlFleetStore } from '@helix-agents/sandbox-fleet'
import { DurableObjectDatabase } from '@helix-agents/store-cloudflare'
import { expect, test } from 'vitest'
import { fillDatabase, NOW } from '../scale/large-ledger.ts'

const RECORDS = 10_000

test('a large ledger is read in small pieces', { timeout: 120_000 }, async () => {
  const stub = env.FLEET.getByName('large')
  const read = await runInDurableObject(stub, async (_, { storage }) => {
    const database = DurableObjectDatabase.of(storage)
    await migrateFleet(database)
    await fillDatabase(database, RECORDS)
    const store = new SqlFleetStore(database)
    // Counts what each statement has read, below the database.
    let rows = 0
    const exec = storage.sql.exec.bind(storage.sql)
    const spy = (statement: string, ...values: unknown[]) => {
      const cursor = exec(statement, ...values)
      return {
        toArray: () => {
          const found = cursor.toArray()
          rows += cursor.rowsRead
          return found
        },
      }
    }
    Object.defineProperty(storage.sql, 'exec', { value: spy, configurable: true })
    const measure = async (work: () => Promise<unknown>): Promise<number> => {
      rows = 0
      await work()
      return rows
    }
    return {
      counts: await measure(() => store.counts('production')),
      running: await measure(() => store.list({ status: 'running', environment: 'production' })),
      session: await measure(() => store.list({ sessionId: 'session-1' })),
      due: await measure(() => store.due({ environment: 'production', until: NOW, limit: 100 })),
    }
  })
  expect(read.counts).toBeLessThan(20)
  expect(read.running).toBeLessThan(220)
  expect(read.session).toBeLessThan(20)
  expect(read.due).toBeLessThan(430)
})
