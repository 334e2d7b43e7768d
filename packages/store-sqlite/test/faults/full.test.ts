// A disk without space: once by a limit of SQLite, once by a limit of the operating system.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { migrate, SqlStateStore } from '@helix-agents/store-sql'
import { SqliteDatabase } from '@helix-agents/store-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { begun, NOW, step, textsOf, user } from '../script.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { spawnChild } from './child.ts'

const canLimit = spawnSync('prlimit', ['--version']).status === 0

test('a write that does not fit is not stored, and the store works on', async () => {
  const database = await SqliteDatabase.open(join(temporaryDirectory(), 'full.db'))
  onTestFinished(() => database.close())
  await migrate(database, { now: NOW })
  const store = new SqlStateStore(database)
  const write = await begun(store, 's')
  await step(store, write, 'one')
  const { version } = (await store.loadSession('s'))!
  await database.read((sql) => sql.get('PRAGMA max_page_count = 1'))

  const tooMuch = { ...write, messages: [user('small'), user('x'.repeat(1_000_000))] }
  const rejected = store.appendMessages(tooMuch)
  await expect(rejected).rejects.toMatchObject({ code: 'unavailable', cause: { kind: 'full' } })
  expect((await store.loadSession('s'))?.version).toBe(version)
  expect(await textsOf(store, 's')).toEqual(['one'])

  await database.read((sql) => sql.get('PRAGMA max_page_count = 100000'))
  await store.appendMessages(tooMuch)
  expect((await store.loadMessages('s')).total).toBe(3)
})

test.runIf(canLimit)(
  'a file that may not grow any more loses nothing it has taken (needs prlimit)',
  async () => {
    const path = join(temporaryDirectory(), 'full.db')
    const child = spawnChild(['fill', path], { through: ['prlimit', '--fsize=2000000'] })
    const answer = await child.next()
    const { stored, total } = answer as { stored: number; total: number }
    const refused = 'unavailable: io'
    expect(answer).toMatchObject({ total: stored, last: refused, again: refused })
    expect(total).toBeGreaterThan(10)
  },
)
