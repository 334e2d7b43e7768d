import { SnapshotStoreError } from '@helix-agents/core'
import { allManifests, type SnapshotStore } from '@helix-agents/core/provider'
import type { Command } from 'commander'
import { exitCodes } from '../../exit-codes.ts'
import { parseCount } from '../../input/option-parsers.ts'
import type { Cell } from '../../output/cell.ts'
import { toAgeText } from '../../output/duration-text.ts'
import { toSizeText } from '../../output/size-text.ts'
import type { Column } from '../../output/table.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import {
  type FoundSnapshot,
  SCOPE_OPTION,
  scopesOf,
  STORE_OPTION,
  type StoreFlags,
  withSnapshots,
} from './with-snapshots.ts'

interface ListFlags extends StoreFlags {
  readonly session?: string
  readonly limit: number
}

interface Listed {
  readonly items: readonly FoundSnapshot[]
  /** Scopes with a snapshot that cannot be read. */
  readonly damaged: readonly { readonly scope: string; readonly problem: string }[]
  readonly isCut: boolean
}

const COLUMNS: readonly Column[] = [
  { title: 'snapshot' },
  { title: 'session' },
  { title: 'workspace' },
  { title: 'provider', isOptional: true },
  { title: 'entries', align: 'right', isOptional: true },
  { title: 'size', align: 'right' },
  { title: 'taken', align: 'right' },
]

const HELP = `
Exit codes: 0 done · 1 damaged snapshots · 2 usage · 3 there is no such store

Examples:
  helix snapshots list
  helix snapshots list --session 6f1c --json | jq -r '.items[].snapshotId'`

/** `helix snapshots list` */
export function registerSnapshotsList(parent: Command, context: CommandContext): void {
  parent
    .command('list')
    .summary('list snapshots, newest first')
    .description('Lists the snapshots of a store, newest first.')
    .option(...STORE_OPTION)
    .option(...SCOPE_OPTION)
    .option('--session <id>', 'only of this session')
    .option('--limit <n>', 'maximum number of snapshots', parseCount(1, 100_000), 50)
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (flags: ListFlags) => {
      const { host, setExitCode } = context
      const listed = await withSnapshots(host, flags, async (store) => listAll(store, flags))
      if (listed.damaged.length > 0) setExitCode(exitCodes.findings)
      print(listed, flags, context)
    })
}

async function listAll(store: SnapshotStore, flags: ListFlags): Promise<Listed> {
  const items: FoundSnapshot[] = []
  const damaged: { readonly scope: string; readonly problem: string }[] = []
  for await (const scope of scopesOf(store, flags)) {
    try {
      items.push(...(await listScope(store, scope, flags)))
    } catch (error) {
      if (!SnapshotStoreError.isInstance(error) || error.code !== 'corrupt') throw error
      damaged.push({ scope, problem: error.message })
    }
  }
  items.sort((a, b) => b.header.createdAt - a.header.createdAt)
  return { items: items.slice(0, flags.limit), damaged, isCut: items.length > flags.limit }
}

async function listScope(
  store: SnapshotStore,
  scope: string,
  { session }: ListFlags,
): Promise<readonly FoundSnapshot[]> {
  const found: FoundSnapshot[] = []
  for await (const header of allManifests(store, scope)) {
    if (session === undefined || header.sessionId === session) found.push({ scope, header })
  }
  return found
}

function print({ items, damaged, isCut }: Listed, flags: ListFlags, context: CommandContext): void {
  const { host, output } = context
  if (flags.json === true) {
    return output.json({ items: items.map(({ scope, header }) => ({ scope, ...header })), damaged })
  }
  const now = host.clock.now()
  if (items.length === 0) output.note('no snapshots')
  else
    output.table(
      COLUMNS,
      items.map(({ header }): Cell[] => [
        header.snapshotId,
        header.sessionId,
        header.workspace,
        header.providerId,
        String(header.entries),
        toSizeText(header.bytes),
        toAgeText(header.createdAt, now),
      ]),
    )
  for (const { scope, problem } of damaged) output.note(`damaged: scope ${scope}: ${problem}`)
  if (isCut) output.note('there are more: --limit')
}
