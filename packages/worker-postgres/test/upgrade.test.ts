import { createTestDatabase } from '@helix-agents/postgres-testbed'
import { openTurnQueue } from '@helix-agents/worker-postgres'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { claimOnce } from './claim.ts'

test('turns that an earlier release has stored wait for the machines of their sessions', async () => {
  await using database = await createTestDatabase()
  const options = { connectionString: database.url, listen: false }
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const turns: string[] = []
  {
    await using queue = await openTurnQueue(options)
    // As an earlier release leaves the tables.
    await client.query(`
      ALTER TABLE helix_queue.job DROP COLUMN helix_home;
      DROP FUNCTION helix_queue.helix_turn_home CASCADE;
      DROP FUNCTION helix_queue.helix_home_turns CASCADE`)
    for (const sessionId of ['s', 'free']) {
      const { turnId } = await queue.enqueue({ name: 'a' }, 'x', { sessionId })
      turns.push(turnId)
    }
    await queue.sessionHomes.save({ sessionId: 's', machine: 'm1', isMovable: false })
  }
  // Several processes of the new release start at once.
  await using queue = await openTurnQueue(options)
  await Promise.all([1, 2, 3].map(async () => (await openTurnQueue(options)).close()))
  await client.query(
    `INSERT INTO helix_queue.helix_worker
      (worker_id, machine, pid, state, sessions, concurrency, takeovers, lost_after_ms)
    VALUES ('w', 'm1', 1, 'running', '[]', 4, 0, 3600000)`,
  )
  const { rows } = await client.query(
    'SELECT id, helix_home FROM helix_queue.job ORDER BY created_on',
  )
  expect(rows).toEqual([
    { id: turns[0], helix_home: 'fm1' },
    { id: turns[1], helix_home: '' },
  ])
  await client.end()
  expect(await claimOnce(queue, { machine: 'm2', waitMs: 1 })).toEqual([turns[1]])
  expect(await claimOnce(queue, { machine: 'm2', waitMs: 1 })).toEqual([])
  expect(await claimOnce(queue, { machine: 'm1', waitMs: 1 })).toEqual([turns[0]])
})
