// The settings for vacuum that the page on many machines advises, on the tables of the queue.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTestDatabase } from '@helix-agents/postgres-testbed'
import { openTurnQueue } from '@helix-agents/worker-postgres'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'

const PAGE = join(import.meta.dirname, '../../../docs/guide/many-machines.md')
/** Where the rows of turns are. */
const TUNED = `SELECT reloptions FROM pg_class
  WHERE oid = (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'helix_queue.job'::regclass)`

test('a statement of the page tunes the one table that holds turns', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const queue = await openTurnQueue({ connectionString: database.url })
  onTestFinished(() => queue.close())
  const client = new Client({ connectionString: database.url })
  await client.connect()
  onTestFinished(() => client.end())
  const [statement = ''] = /^ALTER TABLE IF EXISTS helix_queue\..*$/m.exec(
    readFileSync(PAGE, 'utf8'),
  ) ?? ['']
  await client.query(statement)
  const { rows } = await client.query(TUNED)
  expect(rows).toEqual([{ reloptions: ['autovacuum_vacuum_scale_factor=0.02'] }])
})
