import {
  type DamagedSnapshot,
  type SnapshotStore,
  verifySnapshots,
} from '@helix-agents/core/provider'
import { type Command, Option } from 'commander'
import { exitCodes } from '../../exit-codes.ts'
import { parseDuration } from '../../input/option-parsers.ts'
import { toSizeText } from '../../output/size-text.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import {
  SCOPE_OPTION,
  scopesOf,
  STORE_OPTION,
  type StoreFlags,
  withSnapshots,
} from './with-snapshots.ts'

interface GcFlags extends StoreFlags {
  readonly grace: number
}

const VERIFY_HELP = `
Exit codes: 0 all can be restored · 1 damaged snapshots · 2 usage · 3 there is no such store

Example, from a scheduled job:
  helix snapshots verify --json || notify`

const GC_HELP = `
Deletes no snapshot. Content younger than --grace stays: a snapshot that is being taken needs it.

Exit codes: 0 done · 1 a snapshot is damaged, and nothing of its scope was freed · 2 usage
  3 there is no such store

Example:
  helix snapshots gc --grace 1d`

/** `helix snapshots verify` and `gc` */
export function registerSnapshotsUpkeep(parent: Command, context: CommandContext): void {
  parent
    .command('verify')
    .summary('check that every snapshot can be restored')
    .description('Reads every snapshot of a store and compares all content with its hash.')
    .option(...STORE_OPTION)
    .option(...SCOPE_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', VERIFY_HELP)
    .action(async (flags: StoreFlags) => {
      const found = await withSnapshots(context.host, flags, async (store) => verify(store, flags))
      printVerified(found, flags, context)
    })
  parent
    .command('gc')
    .summary('free content that no snapshot needs')
    .description('Frees the content that no snapshot names any more.')
    .addOption(
      new Option('--grace <duration>', 'keep content that is younger')
        .default(3_600_000, '1h')
        .argParser(parseDuration),
    )
    .option(...STORE_OPTION)
    .option(...SCOPE_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', GC_HELP)
    .action(async (flags: GcFlags) => collect(flags, context))
}

interface Verified {
  readonly snapshots: number
  readonly damaged: readonly (DamagedSnapshot & { readonly scope: string })[]
}

async function verify(store: SnapshotStore, flags: StoreFlags): Promise<Verified> {
  const damaged: Verified['damaged'][number][] = []
  let snapshots = 0
  for await (const scope of scopesOf(store, flags)) {
    const found = await verifySnapshots(store, scope)
    snapshots += found.snapshots
    damaged.push(...found.damaged.map((one) => ({ scope, ...one })))
  }
  return { snapshots, damaged }
}

function printVerified(
  found: Verified,
  flags: StoreFlags,
  { output, setExitCode }: CommandContext,
): void {
  const { snapshots, damaged } = found
  if (damaged.length > 0) setExitCode(exitCodes.findings)
  if (flags.json === true) return output.json(found)
  for (const { snapshotId, problem, missing, corrupt } of damaged) {
    if (problem !== undefined) output.line({ text: `${snapshotId}: ${problem}`, tone: 'bad' })
    for (const path of missing) output.line(`${snapshotId}: missing: ${path}`)
    for (const path of corrupt) output.line(`${snapshotId}: corrupt: ${path}`)
  }
  output.note(`${snapshots} snapshots, ${damaged.length} damaged`)
}

async function collect(flags: GcFlags, { host, output }: CommandContext): Promise<void> {
  const freed = { deletedBlocks: 0, deletedBytes: 0, keptBlocks: 0 }
  await withSnapshots(host, flags, async (store) => {
    for await (const scope of scopesOf(store, flags)) {
      const swept = await store.sweep(scope, { graceMs: flags.grace })
      freed.deletedBlocks += swept.deletedBlocks
      freed.deletedBytes += swept.deletedBytes
      freed.keptBlocks += swept.keptBlocks
    }
  })
  if (flags.json === true) return output.json(freed)
  const { deletedBlocks, deletedBytes, keptBlocks } = freed
  output.note(`freed ${deletedBlocks} blocks, ${toSizeText(deletedBytes)}; kept ${keptBlocks}`)
}
