import { defineConformance } from '@helix-agents/workspace-conformance'
import { storeBehaviours } from '@helix-agents/workspace-conformance/store'
import { describe, it } from 'vitest'
import { emptiedPlace, opened, query } from './opened.ts'

const runner = { it, fails: it.fails }
// The suite moves time by what it passes.
const options = { leaseClock: 'caller' } as const

describe('PostgresStateStore', () => {
  defineConformance(runner, storeBehaviours, {
    create: async () => {
      const url = await emptiedPlace()
      const first = await opened(url, options)
      const reopen = async () => {
        await first.close()
        return (await opened(url, options)).stateStore
      }
      const damage = async (sessionId: string): Promise<void> => {
        await query(url, "UPDATE helix_sessions SET status = 'asleep' WHERE session_id = $1", [
          sessionId,
        ])
      }
      return { store: first.stateStore, reopen, damage }
    },
    offers: ['durable', 'damage'],
  })
})
