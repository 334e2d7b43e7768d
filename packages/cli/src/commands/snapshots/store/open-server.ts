import type { OpenedSnapshots } from '../../../cli-host.ts'
import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'
import { importInstalled } from '../../../input/import-installed.ts'

/** A command that nobody waits for long says soon that the server is away. */
const RECONNECT_MS = 3000

/**
 * Opens the snapshots of a PostgreSQL database. Tables are made only when `canCreate`.
 * @throws {CommandError} for a URL that is none.
 * @throws {StateStoreError} `unavailable`, `schema-version`
 */
export async function openServerSnapshots(
  url: string,
  { canCreate }: { readonly canCreate: boolean },
): Promise<OpenedSnapshots> {
  const { openPostgresStores } = await importInstalled(
    '@helix-agents/store-postgres',
    () => import('@helix-agents/store-postgres'),
  )
  const options = { checkOnly: !canCreate, listen: false, reconnectTimeoutMs: RECONNECT_MS }
  try {
    const { snapshotStore, close } = await openPostgresStores(url, options)
    return { store: snapshotStore, close }
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new CommandError(exitCodes.usage, cause.message, { cause })
  }
}
