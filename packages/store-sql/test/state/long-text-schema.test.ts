import type { SqlDatabase, SqlValue } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { openMigrated } from '../conformance.ts'

/** Tables with texts that may be long, and which of them are ever overwritten. */
const COLUMNS: readonly (readonly [table: string, column: string, isOverwritten: boolean])[] = [
  ['helix_sessions', 'output', true],
  ['helix_sessions', 'error', true],
  ['helix_sessions', 'outcome', true],
  ['helix_sessions', 'owed', true],
  ['helix_labels', 'labels', false],
  ['helix_states', 'value', true],
  ['helix_refs', 'refs', true],
  ['helix_ledgers', 'ledger', true],
  ['helix_messages', 'message', false],
  ['helix_journal', 'entry', false],
  ['helix_journal', 'result', true],
  ['helix_requests', 'request', false],
  ['helix_requests', 'resolution', false],
  ['helix_inbox', 'message', true],
  ['helix_released', 'ref', false],
]

/** Adds a row whose one column is `text`, and whose others hold nothing in particular. */
async function addRow(
  database: SqlDatabase,
  [table, column]: (typeof COLUMNS)[number],
  text: string,
): Promise<void> {
  await database.write((sql) => {
    const columns = sql.all(`SELECT name, type FROM pragma_table_info('${table}')`)
    const values = columns.map(({ name, type }): SqlValue => {
      if (name === column) return text
      return type === 'TEXT' ? 'x' : 1
    })
    sql.run(`INSERT INTO ${table} VALUES (${values.map(() => '?').join()})`, ...values)
  })
}

function textsOf(database: SqlDatabase): Promise<unknown[]> {
  return database.read((sql) =>
    sql.all('SELECT text_id FROM helix_texts ORDER BY text_id').map((row) => row['text_id']),
  )
}

async function withPieces(): Promise<SqlDatabase> {
  const database = await openMigrated()
  await database.write((sql) => {
    for (const [id, position] of [
      [1, 0],
      [7, 0],
      [7, 1],
    ]) {
      sql.run('INSERT INTO helix_texts VALUES (?, ?, ?)', id ?? 0, position ?? 0, 'piece')
    }
  })
  return database
}

test.each(COLUMNS)('the pieces of %s.%s go with it', async (...place) => {
  const [table, column, isOverwritten] = place
  const database = await withPieces()
  const run = (statement: string): Promise<void> => database.write((sql) => sql.run(statement))
  await addRow(database, place, '~7:12')
  if (isOverwritten) await run(`UPDATE ${table} SET ${column} = 'short'`)
  await run(`DELETE FROM ${table}`)
  expect(await textsOf(database)).toEqual([1])
  await addRow(database, place, '1:5')
  await run(`UPDATE ${table} SET ${column} = '~1:5'`)
  expect(await textsOf(database)).toEqual([1])
  await run(`DELETE FROM ${table}`)
  expect(await textsOf(database)).toEqual([])
})

test('only what is overwritten is watched for that, each in a trigger of its own', async () => {
  const database = await openMigrated()
  const triggers = await database.read((sql) =>
    sql
      .all("SELECT name FROM sqlite_master WHERE type = 'trigger'")
      .map(({ name }) => String(name)),
  )
  const wanted = COLUMNS.flatMap(([table, column, isOverwritten]) => [
    `${table}_${column}_delete`,
    ...(isOverwritten ? [`${table}_${column}_update`] : []),
  ])
  expect(triggers.toSorted()).toEqual(wanted.toSorted())
})

test('overwritten at once, the pieces are gone at once', async () => {
  for (const place of COLUMNS.filter(([, , isOverwritten]) => isOverwritten)) {
    const [table, column] = place
    const database = await withPieces()
    await addRow(database, place, '~7:12')
    await database.write((sql) => sql.run(`UPDATE ${table} SET ${column} = 'short'`))
    expect([table, column, await textsOf(database)]).toEqual([table, column, [1]])
  }
})
