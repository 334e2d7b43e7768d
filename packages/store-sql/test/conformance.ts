import { migrate, type SqlDatabase, SqlStateStore, SqlStreamManager } from '@helix-agents/store-sql'
import { defineConformance } from '@helix-agents/workspace-conformance'
import { storeBehaviours, streamBehaviours } from '@helix-agents/workspace-conformance/store'
import { it } from 'vitest'
import { openDatabase } from './node-database.ts'

const runner = { it, fails: it.fails }
const maxBufferedChunks = 10

/** A database in memory with all tables. */
export async function openMigrated(): Promise<SqlDatabase> {
  const database = openDatabase()
  await migrate(database, { now: 1 })
  return database
}

/** Parts of the contract of a store, each in a file of its own, so that none takes long. */
type Topic = 'sessions' | 'large' | 'interaction'

const TOPICS: ReadonlyMap<string, Topic> = new Map([
  ['list', 'large'],
  ['hostile', 'large'],
  ['limits', 'large'],
  ['request', 'interaction'],
  ['answer', 'interaction'],
  ['inbox', 'interaction'],
  ['signal', 'interaction'],
])

function topicOf(id: string): Topic {
  return TOPICS.get(id.split('/')[1] ?? '') ?? 'sessions'
}

export function testStateStore(topic: Topic): void {
  const behaviours = storeBehaviours.filter(({ id }) => topicOf(id) === topic)
  defineConformance(runner, behaviours, {
    create: async () => {
      const database = await openMigrated()
      return {
        store: new SqlStateStore(database),
        reopen: async () => new SqlStateStore(database),
        damage: (sessionId) => damage(database, sessionId),
      }
    },
    offers: ['durable', 'damage'],
  })
}

function damage(database: SqlDatabase, sessionId: string): Promise<void> {
  const statement = "UPDATE helix_sessions SET status = 'asleep' WHERE session_id = ?"
  return database.write((sql) => sql.run(statement, sessionId))
}

export function testStreamManager(): void {
  defineConformance(runner, streamBehaviours, {
    create: async () => {
      const database = await openMigrated()
      const open = (): SqlStreamManager => new SqlStreamManager(database, { maxBufferedChunks })
      return { streams: open(), maxBufferedChunks, reopen: async () => open() }
    },
    offers: ['durable', 'shared', 'immediate'],
  })
}
