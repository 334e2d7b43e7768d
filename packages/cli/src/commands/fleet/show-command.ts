import type { Command } from 'commander'
import type { Cell } from '../../output/cell.ts'
import { toDurationText, toTimeText } from '../../output/duration-text.ts'
import type { Output } from '../../output/output.ts'
import type { CommandContext } from '../command-context.ts'
import {
  type ResourcesAnswer,
  resourcesSchema,
  type SandboxAnswer,
  sandboxSchema,
} from './client/fleet-answers.ts'
import type { FleetClient } from './client/fleet-client.ts'
import { addReadOptions } from './client/fleet-options.ts'
import { type LedgerFlags, withFleet } from './client/open-fleet.ts'
import {
  cpuText,
  memoryText,
  needsAttention,
  printFindings,
  statusCell,
  toMinutesText,
} from './sandbox-rows.ts'
import { pathOf } from './client/sandbox-path.ts'
import { type FleetReading, readOrWatch, type WatchFlags } from './watch.ts'

interface ShowFlags extends LedgerFlags, WatchFlags {
  readonly resources?: boolean
}

const HELP = `
CPU and memory are those of the last sample; --resources asks the provider at this moment.

Exit codes: 0 nothing wrong · 1 it needs attention · 2 usage · 3 no such sandbox, no answer

Examples:
  helix fleet show sandbox_123
  helix fleet show sandbox_123 --resources --json | jq .resources`

/** `helix fleet show` */
export function registerShow(parent: Command, context: CommandContext): void {
  addReadOptions(parent.command('show'))
    .summary('show one sandbox: what is wrong with it, and its history')
    .description('Shows one sandbox: owner, findings, events.')
    .argument('<id>', 'id of the sandbox')
    .option('--resources', 'also its current resource usage')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: ShowFlags) =>
      withFleet(context.host, flags, async (fleet) =>
        readOrWatch(flags, context, () => look(fleet, { id, ...flags }, context.output)),
      ),
    )
}

async function look(
  fleet: FleetClient,
  { id, resources }: ShowFlags & { readonly id: string },
  output: Output,
): Promise<FleetReading> {
  const { body: sandbox } = await fleet.call({ path: pathOf(id) }, sandboxSchema)
  const used =
    resources === true
      ? (await fleet.call({ path: pathOf(id, 'resources') }, resourcesSchema)).body
      : undefined
  return {
    hasFindings: needsAttention(sandbox),
    json: { ...sandbox, ...(used !== undefined && { resources: used }) },
    print: () => print(sandbox, used, output),
  }
}

function print(sandbox: SandboxAnswer, used: ResourcesAnswer | undefined, output: Output): void {
  output.fields([
    ['sandbox', sandbox.id],
    ['provider', sandbox.provider],
    ['status', statusCell(sandbox.status)],
    ['age', toMinutesText(sandbox.age_minutes)],
    ['idle', toMinutesText(sandbox.idle_minutes)],
    ...optional(sandbox),
    ['operations', `${sandbox.operations ?? '?'}, ${sandbox.timeouts ?? '?'} timed out`],
    ['cpu', cpuText(used === undefined ? sandbox.cpu_percent : used.cpu_percent)],
    ['memory', memoryText(used === undefined ? sandbox.memory_mb : used.memory_mb)],
    ...(used === undefined ? [] : [['measured', 'now'] as const]),
    ...troubles(sandbox),
  ])
  printFindings(sandbox, output)
  if (sandbox.findings.length === 0) output.line({ text: 'nothing wrong', tone: 'good' })
  printHistory(sandbox, output)
}

function optional(sandbox: SandboxAnswer): (readonly [string, Cell])[] {
  const { agent_type, critical, session_id, task_id, tenant } = sandbox
  const labels: (readonly [string, string | null])[] = [
    ['agent', agent_type],
    ['session', session_id],
    ['task', task_id],
    ['tenant', tenant],
    ['critical', critical ? 'yes: an emergency spares it' : null],
  ]
  return labels.flatMap(([title, value]) => (value === null ? [] : [[title, value] as const]))
}

function troubles({ kill_detail, kill_reason, last_error, owed }: SandboxAnswer) {
  const rows: (readonly [string, Cell])[] = []
  if (kill_reason !== null) {
    rows.push(['ended for', kill_detail === null ? kill_reason : `${kill_reason}: ${kill_detail}`])
  }
  if (owed !== null) {
    const next = toTimeText(Date.parse(owed.next_attempt_at))
    const text = `tried ${owed.attempts} times, again at ${next}`
    rows.push(['owed', { text, tone: 'warning' }])
  }
  if (last_error !== null) rows.push(['last error', `${last_error.code}: ${last_error.message}`])
  if (last_error?.cause) rows.push(['its cause', last_error.cause])
  return rows
}

function printHistory({ created_at, history = [] }: SandboxAnswer, output: Output): void {
  if (history.length === 0) return
  output.heading('History')
  const start = Date.parse(created_at)
  output.table(
    [
      { title: 'at' },
      { title: 'after', align: 'right' },
      { title: 'event' },
      { title: 'status' },
      { title: 'detail', minWidth: 12 },
    ],
    history.map(({ at, event, status, detail }) => [
      toTimeText(Date.parse(at)),
      toDurationText(Date.parse(at) - start),
      event,
      statusCell(status),
      detail ?? '-',
    ]),
  )
}
