import type { Command } from 'commander'
import { parseChoice, parseCount, parseDuration } from '../../input/option-parsers.ts'
import type { CommandContext } from '../command-context.ts'
import { listSchema, type SandboxAnswer } from './client/fleet-answers.ts'
import type { FleetClient } from './client/fleet-client.ts'
import { addReadOptions } from './client/fleet-options.ts'
import { type LedgerFlags, withFleet } from './client/open-fleet.ts'
import { needsAttention, printFindings, SANDBOX_COLUMNS, toSandboxRow } from './sandbox-rows.ts'
import { type FleetReading, readOrWatch, type WatchFlags } from './watch.ts'

interface ListFlags extends LedgerFlags, WatchFlags {
  readonly status?: string
  readonly provider?: string
  readonly session?: string
  readonly agent?: string
  readonly task?: string
  readonly tenant?: string
  readonly olderThan?: number
  readonly stuck?: boolean
  readonly limit: number
  readonly cursor?: string
}

interface FoundSandboxes {
  readonly items: readonly SandboxAnswer[]
  readonly nextCursor?: string
}

const STATUSES = [
  'active',
  'all',
  'provisioning',
  'running',
  'terminating',
  'terminated',
  'failed',
] as const
const MAX_PAGE = 200
const MINUTE_MS = 60_000

const HELP = `
Stuck are those with a critical finding, and those that should be gone and are not.

Exit codes: 0 none of them is stuck · 1 some are · 2 usage · 3 no answer, no such database

Examples:
  helix fleet list --older-than 10m
  helix fleet list --stuck --json | jq -r '.items[].id'
  helix fleet list --db fleet.db --status all --watch 5`

/** `helix fleet list` */
export function registerList(parent: Command, context: CommandContext): void {
  addReadOptions(parent.command('list'))
    .summary('list sandboxes, newest first, with what is wrong with them')
    .description('Lists the sandboxes of a fleet, newest first, with their findings.')
    .option(
      '--status <status>',
      `only those that are ${STATUSES.join(', ')} (default: active)`,
      parseChoice(STATUSES),
    )
    .option('--provider <name>', 'only those of this provider')
    .option('--session <id>', 'only those of this session')
    .option('--agent <name>', 'only those of this agent')
    .option('--task <id>', 'only those of this task')
    .option('--tenant <id>', 'only those of this tenant')
    .option('--older-than <duration>', 'only those that are older', parseDuration)
    .option('--stuck', 'only those that need attention')
    .option('--limit <n>', 'maximum number of sandboxes', parseCount(1, 100_000), 50)
    .option('--cursor <cursor>', 'continue after the last page')
    .addHelpText('after', HELP)
    .action(async (flags: ListFlags) =>
      withFleet(context.host, flags, async (fleet) =>
        readOrWatch(flags, context, () => look(fleet, flags, context)),
      ),
    )
}

async function look(
  fleet: FleetClient,
  flags: ListFlags,
  context: CommandContext,
): Promise<FleetReading> {
  const { items: all, nextCursor } = await find(fleet, flags)
  const stuck = all.filter(needsAttention)
  const items = flags.stuck === true ? stuck : all
  const found = { items, ...(nextCursor !== undefined && { nextCursor }) }
  return { hasFindings: stuck.length > 0, json: found, print: () => print(found, context) }
}

/** A server may send pages without end, each in time: all of them have one deadline. */
async function find(whole: FleetClient, flags: ListFlags): Promise<FoundSandboxes> {
  const fleet = whole.withOneDeadline()
  const items: SandboxAnswer[] = []
  let { cursor } = flags
  do {
    const limit = String(Math.min(MAX_PAGE, flags.limit - items.length))
    const query = { ...toQuery(flags), limit, cursor }
    const page = await fleet.call({ path: '/api/sandbox/list', query }, listSchema)
    items.push(...page.body)
    cursor = page.nextCursor
  } while (cursor !== undefined && items.length < flags.limit)
  return { items, ...(cursor !== undefined && { nextCursor: cursor }) }
}

function toQuery(flags: ListFlags): Readonly<Record<string, string | undefined>> {
  const { olderThan } = flags
  return {
    status: flags.status,
    provider: flags.provider,
    session_id: flags.session,
    agent_type: flags.agent,
    task_id: flags.task,
    tenant: flags.tenant,
    older_than_minutes: olderThan === undefined ? undefined : String(olderThan / MINUTE_MS),
  }
}

function print({ items, nextCursor }: FoundSandboxes, { output }: CommandContext): void {
  if (items.length === 0) output.note('no sandboxes')
  else output.table(SANDBOX_COLUMNS, items.map(toSandboxRow))
  for (const sandbox of items.filter(needsAttention)) printFindings(sandbox, output)
  if (nextCursor !== undefined) output.note(`there are more: --cursor ${nextCursor}`)
}
