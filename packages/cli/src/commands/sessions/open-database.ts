import type { OpenedSessions } from '../../cli-host.ts'
import { findDatabase } from '../../input/find-database.ts'
import { importWithSqlite } from '../../input/import-with-sqlite.ts'

/**
 * Opens a session database, for reading unless it is `writable`. None is ever made.
 * @throws {CommandError} when there is no such file.
 * @throws {StateStoreError} `corrupt`, `schema-version`, `unavailable`
 */
export async function openSessionDatabase(
  file: string,
  { writable = false }: { readonly writable?: boolean } = {},
): Promise<OpenedSessions> {
  const path = await findDatabase(file)
  const { openSqliteStores } = await importWithSqlite(() => import('@helix-agents/store-sqlite'))
  return openSqliteStores(path, { readOnly: !writable })
}
