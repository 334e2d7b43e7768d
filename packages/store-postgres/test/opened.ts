import { createTestDatabase, type TestDatabase } from '@helix-agents/postgres-testbed'
import {
  openPostgresStores,
  type PostgresStores,
  type PostgresStoresOptions,
} from '@helix-agents/store-postgres'
import { Client } from 'pg'
import { afterAll, beforeAll, onTestFinished } from 'vitest'

let shared: Promise<TestDatabase> | undefined
let count = 0
let emptied: Promise<{ readonly url: string; readonly client: Client }> | undefined

// The start of the server does not count as time of the first test.
beforeAll(async () => {
  shared ??= createTestDatabase()
  await shared
})

afterAll(async () => {
  const database = await shared
  await (await emptied)?.client.end()
  // Files of one process share this module: the next one gets another database.
  shared = undefined
  emptied = undefined
  await database?.drop()
})

/** The URL of an empty place for tables: a schema of the database of this file. */
export async function emptyPlace(): Promise<string> {
  shared ??= createTestDatabase()
  const { url } = await shared
  const name = `place_${++count}`
  await query(url, `CREATE SCHEMA ${name}`)
  const place = new URL(url)
  place.searchParams.set('options', `-c search_path=${name}`)
  return place.href.replaceAll('+', '%20')
}

/**
 * As `emptyPlace`, with tables without rows: always the same place, in a third of the time. One
 * connection empties it for all tests of a file.
 */
export async function emptiedPlace(): Promise<string> {
  emptied ??= migratedPlace()
  const { url, client } = await emptied
  await client.query(EMPTY)
  return url
}

async function migratedPlace(): Promise<{ readonly url: string; readonly client: Client }> {
  const url = await emptyPlace()
  const { close } = await openPostgresStores(url)
  await close()
  const client = new Client({ connectionString: url })
  await client.connect()
  return { url, client }
}

/** Keeps the versions of the schema. Few rows are deleted sooner than tables are truncated. */
const EMPTY = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables
    WHERE schemaname = current_schema() AND tablename NOT LIKE '%schema%' LOOP
    EXECUTE 'DELETE FROM ' || quote_ident(name);
  END LOOP;
END $$`

/**
 * Waits until the last checkpoint is so old that the server can say of every commit whether it happened:
 * the time of a checkpoint is in whole seconds, and each `DROP DATABASE` makes one.
 */
export async function afterLastCheckpoint(url: string): Promise<void> {
  const age = 'extract(epoch FROM clock_timestamp() - checkpoint_time)'
  await query(url, `SELECT pg_sleep(greatest(0, 2.5 - ${age})) FROM pg_control_checkpoint()`)
}

/** Stores that are closed after the test. */
export async function opened(
  url: string,
  options?: PostgresStoresOptions,
): Promise<PostgresStores> {
  const stores = await openPostgresStores(url, options)
  onTestFinished(() => stores.close())
  return stores
}

/** As another program, or an operator, might. */
export async function query(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement, [...values])).rows
  } finally {
    await client.end()
  }
}
