import { compareEntries, type SnapshotDifference } from '@helix-agents/core/provider'
import type { Command } from 'commander'
import type { Cell } from '../../output/cell.ts'
import { toSizeText } from '../../output/size-text.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import {
  findSnapshot,
  SCOPE_OPTION,
  STORE_OPTION,
  type StoreFlags,
  withSnapshots,
} from './with-snapshots.ts'

const HELP = `
The lines that differ: helix snapshots export --git, then git diff.

Exit codes: 0 done, whether they differ or not · 1 a snapshot is damaged · 2 usage
  3 no such snapshot or store

Example:
  helix snapshots diff 0b7e41d2 41d20b7e`

const CHANGES = {
  added: { text: 'added', tone: 'good' },
  removed: { text: 'removed', tone: 'bad' },
  content: { text: 'changed', tone: 'warning' },
  mode: { text: 'mode', tone: 'warning' },
} as const satisfies Record<SnapshotDifference['change'], Cell>

/** `helix snapshots diff` */
export function registerSnapshotsDiff(parent: Command, context: CommandContext): void {
  parent
    .command('diff')
    .summary('list the paths that two snapshots hold differently')
    .description('Lists the paths that two snapshots of any workspaces hold differently.')
    .argument('<from>', 'id of the earlier snapshot, or the start of it')
    .argument('<to>', 'id of the later one')
    .option(...STORE_OPTION)
    .option(...SCOPE_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (from: string, to: string, flags: StoreFlags) => {
      const { host, output } = context
      const differences = await withSnapshots(host, flags, async (store) => {
        const sides = []
        for (const id of [from, to]) {
          const { scope, header } = await findSnapshot(store, id, flags)
          sides.push((await store.getManifest(scope, header.snapshotId)).entries)
        }
        return compareEntries(sides[0] ?? [], sides[1] ?? [])
      })
      if (flags.json === true) return output.json({ differences })
      if (differences.length === 0) return output.note('no differences')
      output.table(
        [
          { title: 'change' },
          { title: 'before', align: 'right' },
          { title: 'after', align: 'right' },
          { title: 'path', minWidth: 16 },
        ],
        differences.map((one) => [
          CHANGES[one.change],
          sideOf(one, 'from'),
          sideOf(one, 'to'),
          one.path,
        ]),
      )
    })
}

function sideOf(difference: SnapshotDifference, side: 'from' | 'to'): string {
  const entry = difference[side]
  if (entry === undefined) return '-'
  if (difference.change === 'mode' && entry.type !== 'symlink') {
    return entry.mode === undefined ? 'none' : entry.mode.toString(8).padStart(3, '0')
  }
  return entry.type === 'file' ? toSizeText(entry.size) : entry.type
}
