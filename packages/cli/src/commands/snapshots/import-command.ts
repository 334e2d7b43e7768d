import { open, stat } from 'node:fs/promises'
import type { SnapshotManifest, SnapshotStore } from '@helix-agents/core/provider'
import { importTar, type SnapshotIdentity } from '@helix-agents/snapshot-archive'
import { importGit } from '@helix-agents/snapshot-archive/git'
import type { Command } from 'commander'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { toSizeText } from '../../output/size-text.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import { STORE_OPTION, type StoreFlags, withSnapshots } from './with-snapshots.ts'

interface ImportFlags extends StoreFlags {
  readonly scope: string
  readonly commit?: string
  readonly session: string
  readonly agent: string
  readonly workspace: string
}

interface Imported {
  readonly manifest: SnapshotManifest
  readonly submodules: readonly string[]
}

const HELP = `
A file is read as a tar archive, plain or gzip; a directory as a Git repository, of which --commit
is imported. One entry that a snapshot cannot hold rejects all of it: a name or a link that leads
out, a path twice, a hard link, a device, a sparse file, more than 200,000 entries or 16 GiB.

Exit codes: 0 done · 1 the archive is rejected · 2 usage · 3 no such archive, commit or store
  70 the store is full

Examples:
  helix snapshots import backup.tar --scope 6f1c --store snapshots
  helix snapshots import . --commit v1.2.0 --scope 6f1c`

/** `helix snapshots import` */
export function registerSnapshotsImport(parent: Command, context: CommandContext): void {
  parent
    .command('import')
    .summary('store a tar archive or a Git commit as a snapshot')
    .description(
      'Stores a tar archive or a commit as a snapshot. The directory or tables of --store are made.',
    )
    .argument('<archive>', 'a tar file, or the directory of a Git repository')
    .requiredOption('--scope <scope>', 'scope of the store: whose snapshot it becomes')
    .option('--commit <commit>', 'a commit, tag or branch of the repository (default: HEAD)')
    .option('--session <id>', 'session that the snapshot names', 'imported')
    .option('--agent <name>', 'agent that the snapshot names', 'imported')
    .option('--workspace <name>', 'workspace that the snapshot names', 'imported')
    .option(...STORE_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (archive: string, flags: ImportFlags) => importArchive(archive, flags, context))
}

async function importArchive(
  archive: string,
  flags: ImportFlags,
  { host, output }: CommandContext,
): Promise<void> {
  const identity: SnapshotIdentity = {
    sessionId: flags.session,
    agentType: flags.agent,
    workspace: flags.workspace,
    providerId: 'import',
    workspaceId: 'import',
    createdAt: host.clock.now(),
  }
  const isRepository = await isDirectory(archive)
  if (!isRepository && flags.commit !== undefined) {
    throw new CommandError(exitCodes.usage, '--commit is for the directory of a repository')
  }
  const target = { ...flags, canCreate: flags.store !== undefined }
  const { manifest, submodules } = await withSnapshots(host, target, async (store) =>
    isRepository
      ? readRepository(archive, store, { flags, identity })
      : readTar(archive, store, { flags, identity }),
  )
  const { header } = manifest
  if (flags.json === true) return output.json({ scope: flags.scope, ...header, submodules })
  output.line(header.snapshotId)
  output.note(`${header.entries} entries, ${toSizeText(header.bytes)}`)
  for (const path of submodules) output.note(`left out: submodule ${path}`)
}

interface ImportRequest {
  readonly flags: ImportFlags
  readonly identity: SnapshotIdentity
}

async function readRepository(
  repository: string,
  store: SnapshotStore,
  { flags: { scope, commit }, identity }: ImportRequest,
): Promise<Imported> {
  const wanted = { repository, ...(commit !== undefined && { commit }) }
  return importGit(wanted, { store, scope }, { identity })
}

async function readTar(
  file: string,
  store: SnapshotStore,
  { flags: { scope }, identity }: ImportRequest,
): Promise<Imported> {
  const handle = await open(file)
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    const bytes: ReadableStream<Uint8Array<ArrayBuffer>> = handle.readableWebStream()
    const isGzip = buffer[0] === 0x1f && buffer[1] === 0x8b
    const tar = isGzip ? bytes.pipeThrough(new DecompressionStream('gzip')) : bytes
    return { manifest: await importTar(tar, { store, scope }, { identity }), submodules: [] }
  } finally {
    await handle.close()
  }
}

async function isDirectory(archive: string): Promise<boolean> {
  const stats = await stat(archive).catch(() => undefined)
  if (stats !== undefined) return stats.isDirectory()
  throw new CommandError(exitCodes.unreachable, `there is no ${archive}`)
}
