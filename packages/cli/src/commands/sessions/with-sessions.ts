import { StateStoreError } from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import type { CliHost } from '../../cli-host.ts'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'

/** Option `--db`, the same for all commands that read sessions. */
export const DATABASE_OPTION = [
  '--db <file>',
  'session database (default: $HELIX_DB, then helix.db in this directory)',
] as const

const DEFAULT_FILE = 'helix.db'

/**
 * Opens the database for one piece of work, for reading unless it is `writable`, and closes it
 * again.
 * @throws {CommandError} for errors of the store.
 */
export async function withSessions<T>(
  host: CliHost,
  { db: file, writable = false }: { readonly db?: string; readonly writable?: boolean },
  work: (store: SessionStateStore) => Promise<T>,
): Promise<T> {
  const fromEnvironment = host.env.HELIX_DB === '' ? undefined : host.env.HELIX_DB
  try {
    const sessions = await host.openSessions(file ?? fromEnvironment ?? DEFAULT_FILE, { writable })
    try {
      return await work(sessions.stateStore)
    } finally {
      await sessions.close()
    }
  } catch (error) {
    throw StateStoreError.isInstance(error) ? toCommandError(error) : error
  }
}

function toCommandError(error: StateStoreError): CommandError {
  const { message, code, hint } = error
  const text = `${message} (${code})${hint === undefined ? '' : `\n${hint}`}`
  return new CommandError(exitCodeOf(error), text, { cause: error })
}

function exitCodeOf({ code }: StateStoreError): number {
  if (code === 'invalid-query' || code === 'not-storable') return exitCodes.usage
  return code === 'corrupt' ? exitCodes.findings : exitCodes.unreachable
}
