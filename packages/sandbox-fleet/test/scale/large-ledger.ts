import type { SqlDatabase } from '@helix-agents/store-sql'
import { applyEvent, createRecord } from '../../src/ledger/lifecycle.ts'
import { countChanges } from '../../src/ledger/record-counts.ts'
import type { SandboxRecord } from '../../src/ledger/sandbox-record.ts'
import { addCounts } from '../../src/sql/counts.ts'
import { insertRecord } from '../../src/sql/record-row.ts'

export const NOW = 1_700_000_000_000
const BATCH = 5000

/**
 * A ledger after a long time: of each hundred records 97 are gone, two are held, and one is idle.
 */
export function* largeLedger(count: number): Generator<SandboxRecord> {
  for (let n = 0; n < count; n += 1) {
    const createdAt = NOW - (count - n) * 1000 - 3_600_000
    const isHeld = n % 100 < 2
    const record = createRecord({
      id: `sandbox-${n}`,
      provider: n % 2 === 0 ? 'local-bash' : 'cloudflare-sandbox',
      environment: 'production',
      sessionId: `session-${n % 5000}`,
      agentType: `agent-${n % 10}`,
      taskId: `task-${n}`,
      tenant: `tenant-${n % 50}`,
      createdAt,
      ...(isHeld && { lease: { kind: 'owner', holder: 'h', until: NOW + 60_000 } as const }),
    })
    const running = applyEvent(record, { type: 'started' }, createdAt + 1000)
    const isGone = n % 100 > 2
    yield isGone
      ? applyEvent(running, { type: 'vanish', detail: 'test' }, createdAt + 9000)
      : running
  }
}

/** Fills a database as its store would. */
export async function fillDatabase(database: SqlDatabase, count: number): Promise<void> {
  const records = [...largeLedger(count)]
  for (let done = 0; done < count; done += BATCH) {
    // What is written comes from outside of the work, which runs again on a server that is busy.
    const batch = records.slice(done, done + BATCH)
    await database.write((sql) => {
      for (const record of batch) {
        insertRecord(sql, record)
        addCounts(sql, record.environment, countChanges(undefined, record))
      }
    })
  }
}
