// The same stores on the SQLite of a Durable Object: their SQL is what that allows.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { migrate, SqlStateStore, SqlStreamManager } from '@helix-agents/store-sql'
import { type Behaviour, defineConformance } from '@helix-agents/workspace-conformance'
import { storeBehaviours, streamBehaviours } from '@helix-agents/workspace-conformance/store'
import { describe, it } from 'vitest'
import { DurableObjectDatabase } from './durable-object-database.ts'

type Open<Subject> = (database: DurableObjectDatabase) => Subject

/** Behaviours that each run inside an object of their own, where its database can be used. */
function withinObjects<Subject>(
  behaviours: readonly Behaviour<Subject>[],
  open: Open<Subject>,
): readonly Behaviour<unknown>[] {
  return behaviours.map((behaviour) => ({
    ...behaviour,
    run: (stub) =>
      runInDurableObject(stub, async (_, { storage }) => {
        const database = new DurableObjectDatabase(storage)
        await migrate(database, { now: 0 })
        await behaviour.run(open(database))
      }),
  }))
}

const runner = { it, fails: it.fails }
const create = async (): Promise<unknown> => env.STORE.get(env.STORE.newUniqueId())

describe('SqlStateStore in a Durable Object', () => {
  const behaviours = withinObjects(storeBehaviours, (database) => ({
    store: new SqlStateStore(database),
    reopen: async () => new SqlStateStore(database),
  }))
  defineConformance(runner, behaviours, { create, offers: ['durable'] })
})

describe('SqlStreamManager in a Durable Object', () => {
  const maxBufferedChunks = 10
  const open = (database: DurableObjectDatabase): SqlStreamManager =>
    new SqlStreamManager(database, { maxBufferedChunks })
  const behaviours = withinObjects(streamBehaviours, (database) => ({
    streams: open(database),
    maxBufferedChunks,
    reopen: async () => open(database),
  }))
  defineConformance(runner, behaviours, { create, offers: ['durable'] })
})
