import { randomUUID } from 'node:crypto'
import { Client, escapeIdentifier } from 'pg'

/** A database of one test. */
export interface TestDatabase extends AsyncDisposable {
  /** Its connection string. */
  readonly url: string
  /** Cuts its connections and removes it. */
  drop(): Promise<void>
}

/**
 * Makes an empty database on a server.
 *
 * @param serverUrl a connection string of a user that may create databases.
 */
export async function createDatabaseOn(serverUrl: string): Promise<TestDatabase> {
  const name = `helix_test_${randomUUID().replaceAll('-', '')}`
  await query(serverUrl, `CREATE DATABASE ${escapeIdentifier(name)}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const drop = (): Promise<void> =>
    query(serverUrl, `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`)
  return { url: url.href, drop, [Symbol.asyncDispose]: drop }
}

async function query(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
