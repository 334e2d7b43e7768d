import { createTestDatabase } from '@helix-agents/postgres-testbed'
import { openPostgresStores } from '@helix-agents/store-postgres'
import { expect, test } from 'vitest'

test('a machine that freezes in a transaction holds its rows for two seconds at most', async () => {
  await using database = await createTestDatabase()
  const stores = await openPostgresStores(database.url)
  const timeout = 'idle_in_transaction_session_timeout'
  const [write, read] = await Promise.all([
    stores.database.write((sql) => sql.get(`SHOW ${timeout}`)),
    stores.database.readOnce((sql) => sql.get(`SHOW ${timeout}`)),
  ])
  await stores.close()
  expect([write, read]).toEqual([{ [timeout]: '2s' }, { [timeout]: '2s' }])
})
