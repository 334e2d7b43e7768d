import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { registerSnapshotsDiff } from './diff-command.ts'
import { registerSnapshotsExport } from './export-command.ts'
import { registerSnapshotsImport } from './import-command.ts'
import { registerSnapshotsList } from './list-command.ts'
import { registerSnapshotsUpkeep } from './maintain-commands.ts'
import { registerSnapshotsShow } from './show-command.ts'

const HELP = `
Examples:
  helix snapshots list
  helix snapshots export 0b7e41d2 --tar backup.tar
  helix snapshots verify --store postgresql://agents@db/agents
  helix snapshots gc --store 's3://files?endpoint=https://s3.example.org'`

/** `helix snapshots`: what a store of snapshots holds. */
export function registerSnapshots(parent: Command, context: CommandContext): void {
  const group = parent
    .command('snapshots')
    .summary('list, compare, export and import snapshots of workspaces')
    .description('Works on a store of snapshots, which may be in use.')
    .addHelpText('after', HELP)
  registerSnapshotsList(group, context)
  registerSnapshotsShow(group, context)
  registerSnapshotsDiff(group, context)
  registerSnapshotsExport(group, context)
  registerSnapshotsImport(group, context)
  registerSnapshotsUpkeep(group, context)
}
