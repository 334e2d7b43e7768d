import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { SnapshotStore } from '@helix-agents/core/provider'
import { exportTar } from '@helix-agents/snapshot-archive'
import { exportGit } from '@helix-agents/snapshot-archive/git'
import type { Command } from 'commander'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { parseDirectory } from '../../input/option-parsers.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import {
  findSnapshot,
  type FoundSnapshot,
  SCOPE_OPTION,
  STORE_OPTION,
  type StoreFlags,
  withSnapshots,
} from './with-snapshots.ts'

interface ExportFlags extends StoreFlags {
  readonly tar?: string
  readonly git?: string
}

const HELP = `
--tar writes one snapshot as a tar archive; the file must not exist. --git writes a bare repository
with a commit for each snapshot, the oldest first; its directory must be missing or empty. What Git
does not hold (.git, empty directories, modes other than 644 and 755) is listed.

Exit codes: 0 done · 1 the snapshot is damaged · 2 usage, or the target exists
  3 no such snapshot or store

Examples:
  helix snapshots export 0b7e41d2 --tar backup.tar
  helix snapshots export 0b7e41d2 41d20b7e --git history.git && git -C history.git log --stat`

/** `helix snapshots export` */
export function registerSnapshotsExport(parent: Command, context: CommandContext): void {
  parent
    .command('export')
    .summary('write snapshots as a tar archive or a Git repository')
    .description('Writes snapshots where tar or git reads them.')
    .argument('<snapshot...>', 'ids of snapshots, or the start of each')
    .option('--tar <file>', 'write one snapshot to this file', parseDirectory)
    .option('--git <dir>', 'write a bare repository to this directory', parseDirectory)
    .option(...STORE_OPTION)
    .option(...SCOPE_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (ids: readonly string[], flags: ExportFlags) => {
      const { tar, git } = flags
      if ((tar === undefined) === (git === undefined)) throw usage('give either --tar or --git')
      if (tar !== undefined && ids.length > 1) throw usage('a tar archive holds one snapshot')
      await withSnapshots(context.host, flags, async (store) => {
        const found: FoundSnapshot[] = []
        for (const id of ids) found.push(await findSnapshot(store, id, flags))
        if (tar !== undefined) await toTar(store, found, { ...flags, tar }, context)
        else await toGit(store, found, { ...flags, git: git ?? '' }, context)
      })
    })
}

async function toTar(
  store: SnapshotStore,
  found: readonly FoundSnapshot[],
  { tar, json }: ExportFlags & { readonly tar: string },
  { output }: CommandContext,
): Promise<void> {
  for (const { scope, header } of found) {
    const manifest = await store.getManifest(scope, header.snapshotId)
    await writeWhole(tar, await exportTar({ store, scope }, manifest))
    if (json === true) output.json({ file: tar, ...header })
    else output.note(`wrote ${header.entries} entries to ${tar}`)
  }
}

/** The file is there once all of it is written. */
async function writeWhole(file: string, content: ReadableStream<Uint8Array>): Promise<void> {
  const partial = `${file}.${randomUUID()}.part`
  try {
    await pipeline(Readable.fromWeb(content), createWriteStream(partial, { flags: 'wx' }))
    await link(partial, file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST') throw usage(`${file} exists already`)
    if (code === 'ENOENT' || code === 'ENOTDIR') throw usage(`there is no directory for ${file}`)
    throw error
  } finally {
    await rm(partial, { force: true })
  }
}

async function toGit(
  store: SnapshotStore,
  found: readonly FoundSnapshot[],
  { git, json }: ExportFlags & { readonly git: string },
  { output }: CommandContext,
): Promise<void> {
  const [first] = found
  if (first === undefined || found.some(({ scope }) => scope !== first.scope)) {
    throw usage('the snapshots of a repository come from one scope')
  }
  const ids = found
    .toSorted((a, b) => a.header.createdAt - b.header.createdAt)
    .map(({ header }) => header.snapshotId)
  const commits = await exportGit({ store, scope: first.scope }, ids, git)
  if (json === true) return output.json({ directory: git, commits })
  output.table(
    [{ title: 'snapshot' }, { title: 'commit' }, { title: 'not held', align: 'right' }],
    commits.map((one) => [one.snapshotId, one.commit, String(one.differenceCount)]),
  )
  for (const { snapshotId, differences } of commits) {
    for (const { path, kind } of differences) output.note(`${kind}: ${path} of ${snapshotId}`)
  }
}

function usage(message: string): CommandError {
  return new CommandError(exitCodes.usage, message)
}
