import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import type { OpenedSnapshots } from '../../../cli-host.ts'
import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'

/**
 * Opens a directory of snapshots, by default that of local-bash workspaces in the temporary
 * directory. None is made unless `canCreate`.
 * @throws {CommandError} when there is no such directory.
 */
export async function openSnapshotDirectory(
  directory: string | undefined,
  { canCreate }: { readonly canCreate: boolean },
): Promise<OpenedSnapshots> {
  const path = resolve(directory ?? join(tmpdir(), `helix-snapshots-${process.getuid?.() ?? 0}`))
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined && !canCreate)
    throw unreachable(`there is no directory ${path}: name one with --store`)
  if (stats?.isDirectory() === false) throw unreachable(`${path} is no directory`)
  return { store: new DirectorySnapshotStore({ directory: path }), close: () => undefined }
}

function unreachable(message: string): CommandError {
  return new CommandError(exitCodes.unreachable, message)
}
