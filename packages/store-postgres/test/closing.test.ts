// A database that is closed answers what was called before, and leaves no reader of another process waiting.
import { PostgresDatabase } from '@helix-agents/store-postgres'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { emptyPlace } from './opened.ts'

const streams = [1, 2, 3]

test('calls that wait for a connection are answered', async () => {
  const database = new PostgresDatabase(await emptyPlace(), { maxConnections: 1 })
  const calls = streams.map((id) => database.read((sql) => sql.get('SELECT ?::int AS id', id)))
  await database.close()
  expect(await Promise.all(calls)).toEqual(streams.map((id) => ({ id })))
  await expect(database.read((sql) => sql.get('SELECT 1'))).rejects.toMatchObject({
    kind: 'closed',
  })
})

test('readers of other processes are notified of every write', async () => {
  const url = await emptyPlace()
  const other = new Client({ connectionString: url })
  await other.connect()
  onTestFinished(() => other.end())
  const heard: number[] = []
  const { promise: heardAll, resolve } = Promise.withResolvers<void>()
  other.on('notification', ({ payload = '' }) => {
    if (payload === 'end') resolve()
    else heard.push(...(payload.split(':')[1] ?? '').split(',').map(Number))
  })
  await other.query('LISTEN helix_streams')
  const database = new PostgresDatabase(url, { maxConnections: 1 })
  const notify = (stream: number) => database.write((sql) => sql.server?.notify([stream]))
  await Promise.all(streams.map(notify))
  await database.close()
  // Notifications arrive in the order of their commits.
  await other.query("NOTIFY helix_streams, 'end'")
  await heardAll
  expect(new Set(heard)).toEqual(new Set(streams))
})
