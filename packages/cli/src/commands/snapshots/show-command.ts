import type { SnapshotEntry } from '@helix-agents/core/provider'
import type { Command } from 'commander'
import { parseCount } from '../../input/option-parsers.ts'
import type { Cell } from '../../output/cell.ts'
import { toAgeText, toTimeText } from '../../output/duration-text.ts'
import { toSizeText } from '../../output/size-text.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import {
  findSnapshot,
  SCOPE_OPTION,
  STORE_OPTION,
  type StoreFlags,
  withSnapshots,
} from './with-snapshots.ts'

interface ShowFlags extends StoreFlags {
  readonly entries: number
}

const HELP = `
Exit codes: 0 done · 1 the snapshot is damaged · 2 usage · 3 no such snapshot or store

Examples:
  helix snapshots show 0b7e41d2
  helix snapshots show 0b7e41d2 --json | jq -r '.entries[].path'`

/** `helix snapshots show` */
export function registerSnapshotsShow(parent: Command, context: CommandContext): void {
  parent
    .command('show')
    .summary('show one snapshot and its files')
    .description('Shows where a snapshot comes from, and what it holds.')
    .argument('<snapshot>', 'id of the snapshot, or the start of it')
    .option(...STORE_OPTION)
    .option(...SCOPE_OPTION)
    .option('--entries <n>', 'maximum number of paths', parseCount(0, 1_000_000), 50)
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (id: string, flags: ShowFlags) => show(id, flags, context))
}

async function show(id: string, flags: ShowFlags, context: CommandContext): Promise<void> {
  const { host, output } = context
  const { scope, manifest } = await withSnapshots(host, flags, async (store) => {
    const found = await findSnapshot(store, id, flags)
    const { snapshotId } = found.header
    return { ...found, manifest: await store.getManifest(found.scope, snapshotId) }
  })
  const { header, entries } = manifest
  if (flags.json === true) return output.json({ scope, ...manifest })
  output.fields([
    ['snapshot', header.snapshotId],
    ['scope', scope],
    ['session', header.sessionId],
    ['agent', header.agentType],
    ['workspace', header.workspace],
    ['provider', header.providerId],
    ['taken', `${toTimeText(header.createdAt)}, ${toAgeText(header.createdAt, host.clock.now())}`],
    ['parent', header.parent ?? '-'],
    ['holds', `${header.entries} entries, ${toSizeText(header.bytes)}`],
    ['digest', header.digest],
  ])
  const shown = entries.slice(0, flags.entries)
  if (shown.length > 0) {
    output.heading('Entries')
    output.table(
      [{ title: 'mode' }, { title: 'size', align: 'right' }, { title: 'path', minWidth: 16 }],
      shown.map(toRow),
    )
  }
  const rest = entries.length - shown.length
  if (rest > 0) output.note(`${rest} more: --entries`)
}

function toRow(entry: SnapshotEntry): Cell[] {
  if (entry.type === 'symlink') return ['link', '-', `${entry.path} -> ${entry.target}`]
  const mode = entry.mode === undefined ? '-' : entry.mode.toString(8).padStart(3, '0')
  if (entry.type === 'directory') return [mode, '-', `${entry.path}/`]
  return [mode, toSizeText(entry.size), entry.path]
}
