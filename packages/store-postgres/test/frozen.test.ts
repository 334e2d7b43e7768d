import { expect, test } from 'vitest'
import { emptyPlace, opened } from './opened.ts'

test('a machine that freezes in a transaction holds its rows for two seconds at most', async () => {
  const { database } = await opened(await emptyPlace())
  const timeout = 'idle_in_transaction_session_timeout'
  const [write, read] = await Promise.all([
    database.write((sql) => sql.get(`SHOW ${timeout}`)),
    database.readOnce((sql) => sql.get(`SHOW ${timeout}`)),
  ])
  expect([write, read]).toEqual([{ [timeout]: '2s' }, { [timeout]: '2s' }])
})
