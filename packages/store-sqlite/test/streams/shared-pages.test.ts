// Many readers of one stream cost its writer little more than one does.
import { SqlStreamManager } from '@helix-agents/store-sql'
import { migrate } from '@helix-agents/store-sql'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { RecordingDatabase } from '../recording-database.ts'
import { settled, text } from './script.ts'

test('readers that wait for the same chunk share its transaction, its row and its object', async () => {
  const database = await SqliteDatabase.open(':memory:')
  onTestFinished(() => database.close())
  await migrate(database, { now: 1 })
  const recording = new RecordingDatabase(database)
  const streams = new SqlStreamManager(recording)
  const writer = await streams.startRun('s', 'r', 'a')
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const readers = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const chunks = await streams.read('s', { signal: stop.signal })
      return chunks![Symbol.asyncIterator]()
    }),
  )
  const next = readers.map((reader) => reader.next())
  await settled()
  recording.take()
  await writer.write(text('one'))
  const results = await Promise.all(next)
  const statements = recording.take().map(({ statement }) => statement)
  expect(new Set(results.map(({ value }) => value)).size).toBe(1)
  expect(results[0]?.value).toMatchObject({ delta: 'one', sequence: 1 })
  expect(
    statements.filter((one) => one.includes('FROM helix_chunks WHERE stream')).length,
  ).toBeLessThan(8)
  expect(statements.length).toBeLessThan(10)
})
