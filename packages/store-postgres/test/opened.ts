import { createTestDatabase, type TestDatabase } from '@helix-agents/postgres-testbed'
import {
  openPostgresStores,
  type PostgresStores,
  type PostgresStoresOptions,
} from '@helix-agents/store-postgres'
import { Client } from 'pg'
import { afterAll, onTestFinished } from 'vitest'

let shared: Promise<TestDatabase> | undefined
let count = 0

afterAll(async () => {
  await (await shared)?.drop()
  shared = undefined
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
