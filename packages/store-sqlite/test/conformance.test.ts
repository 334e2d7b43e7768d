import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import type { SqliteStores } from '@helix-agents/store-sqlite'
import { defineConformance } from '@helix-agents/workspace-conformance'
import { storeBehaviours } from '@helix-agents/workspace-conformance/store'
import { describe, it } from 'vitest'
import { opened } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const runner = { it, fails: it.fails }

describe('SqlStateStore on a file', () => {
  defineConformance(runner, storeBehaviours, {
    create: async () => {
      const path = join(temporaryDirectory(), 'sessions.db')
      const first = await opened(path)
      const reopen = async (): Promise<SqliteStores['stateStore']> => {
        await first.close()
        return (await opened(path)).stateStore
      }
      return { store: first.stateStore, reopen, damage: async (id) => damage(path, id) }
    },
    offers: ['durable', 'damage'],
  })
})

/** As a foreign program, or a fault of the disk, might. */
function damage(path: string, sessionId: string): void {
  const database = new DatabaseSync(path)
  database
    .prepare("UPDATE helix_sessions SET status = 'asleep' WHERE session_id = ?")
    .run(sessionId)
  database.close()
}
