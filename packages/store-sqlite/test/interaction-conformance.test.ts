import { join } from 'node:path'
import { SqlStateStore } from '@helix-agents/store-sql'
import { defineConformance } from '@helix-agents/workspace-conformance'
import {
  interactionBehaviours,
  type InteractionStore,
} from '@helix-agents/workspace-conformance/store'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import { migrate } from '@helix-agents/store-sql'
import { describe, it, onTestFinished } from 'vitest'
import { NOW } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

async function open(path: string): Promise<InteractionStore> {
  const database = await SqliteDatabase.open(path)
  onTestFinished(() => database.close())
  await migrate(database, { now: NOW })
  return new SqlStateStore(database)
}

describe('SqlStateStore on a file', () => {
  defineConformance({ it, fails: it.fails }, interactionBehaviours, {
    create: async () => {
      const path = join(temporaryDirectory(), 'sessions.db')
      return { store: await open(path), reopen: () => open(path) }
    },
    offers: ['durable'],
  })
})
