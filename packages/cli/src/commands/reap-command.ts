import { existsSync } from 'node:fs'
import { reapLocalBashTmpdirs, type ReapReport } from '@helix-agents/workspace-local-bash'
import { type Command, Option } from 'commander'
import { CommandError } from '../command-error.ts'
import { exitCodes } from '../exit-codes.ts'
import { parseDirectory, parseDuration } from '../input/option-parsers.ts'
import type { Cell } from '../output/cell.ts'
import { type CommandContext, JSON_OPTION } from './command-context.ts'

interface ReapFlags {
  readonly root?: string
  readonly olderThan: number
  readonly dryRun?: boolean
  readonly json?: boolean
}

const DETACHED_GRACE_MS = 7 * 86_400_000
const UNFINISHED_GRACE_MS = 86_400_000

const HELP = `
Removed is a directory helix-ws-* of yours whose process does not run any more, when it was not
used for --older-than. A workspace that was detached, by a pause or a shutdown, is kept for 7 days;
an empty one whose process died while making it, for 1 day; longer when --older-than is longer.
Never removed: what a running process uses, what is not yours, what Helix did not make.

Exit codes: 0 done · 1 something could not be removed · 2 usage · 3 the root cannot be read

Examples:
  helix reap --dry-run                    what would be removed, and why the rest stays
  helix reap --older-than 6h              from a scheduled job
  helix reap --root /var/lib/agents --json`

/** `helix reap`: removes what crashed processes left. */
export function registerReap(parent: Command, context: CommandContext): void {
  parent
    .command('reap')
    .summary('remove workspace directories whose process is dead')
    .description('Removes the directories of local-bash workspaces that crashed processes left.')
    .option(
      '--root <dir>',
      'where workspaces are made (default: the temporary directory)',
      parseDirectory,
    )
    .addOption(olderThanOption())
    .option('--dry-run', 'only show what would be removed')
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (flags: ReapFlags) => reap(flags, context))
}

function olderThanOption(): Option {
  const option = new Option('--older-than <duration>', 'only what was unused for so long')
  return option.default(3_600_000, '1h').argParser(parseDuration)
}

async function reap(flags: ReapFlags, { host, output, setExitCode }: CommandContext) {
  const { root, olderThan: graceMs } = flags
  const isDryRun = flags.dryRun === true
  if (root !== undefined && !existsSync(root)) output.note(`there is no directory ${root}`)
  const report = await reapLocalBashTmpdirs({
    ...(root !== undefined && { tmpdirRoot: root }),
    graceMs,
    detachedGraceMs: Math.max(graceMs, DETACHED_GRACE_MS),
    unfinishedGraceMs: Math.max(graceMs, UNFINISHED_GRACE_MS),
    dryRun: isDryRun,
    clock: host.clock,
  }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CommandError(exitCodes.unreachable, `the root cannot be read: ${reason}`, { cause })
  })
  if (flags.json === true) output.json(toJson(report, isDryRun))
  else print(report, isDryRun, { host, output, setExitCode })
  if (report.failed.length > 0) setExitCode(exitCodes.findings)
}

function toJson({ failed, ...names }: ReapReport, isDryRun: boolean) {
  return {
    dryRun: isDryRun,
    ...names,
    failed: failed.map(({ name, error }) => ({ name, error: reasonOf(error) })),
  }
}

function print(report: ReapReport, isDryRun: boolean, { output }: CommandContext): void {
  const rows = toRows(report, isDryRun)
  if (rows.length > 0) {
    output.table(
      [{ title: 'directory' }, { title: 'result' }, { title: 'why', minWidth: 16 }],
      rows,
    )
  }
  const kept = report.live.length + report.waiting.length + report.foreign.length
  const done = `${report.removed.length} ${isDryRun ? 'would be removed' : 'removed'}`
  const sets =
    report.snapshots.length === 0 ? '' : ` and ${report.snapshots.length} sets of snapshots`
  output.note(`${done}${sets}, ${kept} kept, ${report.failed.length} failed`)
}

function toRows(report: ReapReport, isDryRun: boolean): Cell[][] {
  const removed = { text: isDryRun ? 'would remove' : 'removed', tone: 'good' } as const
  return [
    ...report.removed.map((name) => [name, removed, 'its process is dead']),
    ...report.waiting.map((name) => [name, 'kept', 'not unused for long enough']),
    ...report.live.map((name) => [name, 'kept', 'a running process uses it']),
    ...report.foreign.map((name) => [name, 'kept', 'not a workspace of this user']),
    ...report.snapshots.map((id) => [`snapshots ${id}`, removed, 'no workspace is left of them']),
    ...report.failed.map(({ name, error }) => [
      name,
      { text: 'failed', tone: 'bad' } as const,
      reasonOf(error),
    ]),
  ]
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
