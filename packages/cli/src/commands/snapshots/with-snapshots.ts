import { SnapshotStoreError, StateStoreError } from '@helix-agents/core'
import { allManifests, type SnapshotHeader, type SnapshotStore } from '@helix-agents/core/provider'
import { SnapshotArchiveError } from '@helix-agents/snapshot-archive'
import type { CliHost } from '../../cli-host.ts'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'

/** Option `--store`, the same for all commands about snapshots. */
export const STORE_OPTION = [
  '--store <store>',
  'directory, postgresql:// or s3:// (default: $HELIX_SNAPSHOTS, then local-bash)',
] as const

/** Option `--scope`. */
export const SCOPE_OPTION = ['--scope <scope>', 'only in this scope of the store'] as const

/** Which store, and which part of it. */
export interface StoreFlags {
  readonly store?: string
  readonly scope?: string
  readonly json?: boolean
}

/**
 * Opens the store for one piece of work.
 * @throws {CommandError} for errors of the store and of archives.
 */
export async function withSnapshots<T>(
  host: CliHost,
  { store: place, canCreate = false }: { readonly store?: string; readonly canCreate?: boolean },
  work: (store: SnapshotStore) => Promise<T>,
): Promise<T> {
  const fromEnvironment = host.env.HELIX_SNAPSHOTS === '' ? undefined : host.env.HELIX_SNAPSHOTS
  try {
    const opened = await host.openSnapshots(place ?? fromEnvironment, { canCreate })
    try {
      return await work(opened.store)
    } finally {
      await opened.close()
    }
  } catch (error) {
    throw toCommandError(error)
  }
}

function toCommandError(error: unknown): unknown {
  const isKnown =
    SnapshotStoreError.isInstance(error) ||
    SnapshotArchiveError.isInstance(error) ||
    StateStoreError.isInstance(error)
  if (!isKnown) return error
  const { message, code, hint } = error
  const text = `${message} (${code})${hint === undefined ? '' : `\n${hint}`}`
  return new CommandError(exitCodeOf(code), text, { cause: error })
}

type KnownError = SnapshotStoreError | SnapshotArchiveError | StateStoreError

function exitCodeOf(code: KnownError['code']): number {
  switch (code) {
    case 'not-found':
    case 'unavailable':
    case 'schema-version':
    case 'repository-failed':
      return exitCodes.unreachable
    case 'target-exists':
    case 'already-exists':
      return exitCodes.usage
    case 'storage-full':
      return exitCodes.failure
    default:
      return exitCodes.findings
  }
}

/** The scopes to work on: the one of `--scope`, else all of them. */
export async function* scopesOf(
  store: SnapshotStore,
  { scope }: StoreFlags,
): AsyncGenerator<string, void> {
  if (scope !== undefined) {
    yield scope
    return
  }
  let after: string | undefined
  do {
    const page = await store.listScopes(after === undefined ? {} : { after })
    yield* page.items
    after = page.next
  } while (after !== undefined)
}

/** A snapshot and the scope that holds it. */
export interface FoundSnapshot {
  readonly scope: string
  readonly header: SnapshotHeader
}

/**
 * The scope of a snapshot, which is looked for in all of them. An id may be cut short, as long as
 * one snapshot begins with it.
 * @throws {CommandError} for none, and for several.
 */
export async function findSnapshot(
  store: SnapshotStore,
  start: string,
  flags: StoreFlags,
): Promise<FoundSnapshot> {
  const found: FoundSnapshot[] = []
  for await (const scope of scopesOf(store, flags)) {
    for await (const header of allManifests(store, scope)) {
      if (header.snapshotId.startsWith(start)) found.push({ scope, header })
    }
  }
  const [first, ...others] = found
  if (first === undefined) {
    throw new CommandError(exitCodes.unreachable, `there is no snapshot ${start}`)
  }
  if (others.length === 0) return first
  const reason = 'give more of the id, or --scope'
  throw new CommandError(exitCodes.usage, `${found.length} snapshots are ${start}…: ${reason}`)
}
