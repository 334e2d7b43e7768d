import type { Command } from 'commander'
import type { Cell } from '../../output/cell.ts'
import { toAgeText } from '../../output/duration-text.ts'
import type { Output } from '../../output/output.ts'
import type { CommandContext } from '../command-context.ts'
import { type FleetNumbers, statsSchema } from './client/fleet-answers.ts'
import type { FleetClient } from './client/fleet-client.ts'
import { addReadOptions } from './client/fleet-options.ts'
import { type LedgerFlags, withFleet } from './client/open-fleet.ts'
import { type FleetReading, readOrWatch, type WatchFlags } from './watch.ts'

type StatsFlags = LedgerFlags & WatchFlags

const HELP = `
Alerts are those of the fleet, with its thresholds; those of a ledger (--db) are by the defaults.

Exit codes: 0 no alerts · 1 an alert is firing · 2 usage · 3 no answer, no such database

Examples:
  helix fleet stats --url https://fleet.example.com
  helix fleet stats --db fleet.db --watch 5
  helix fleet stats --json | jq .active`

/** `helix fleet stats` */
export function registerStats(parent: Command, context: CommandContext): void {
  addReadOptions(parent.command('stats'))
    .summary('how the fleet stands, and its alerts')
    .description('Shows the number of sandboxes by state, and the alerts.')
    .addHelpText('after', HELP)
    .action(async (flags: StatsFlags) =>
      withFleet(context.host, flags, async (fleet) =>
        readOrWatch(flags, context, () => look(fleet, flags, context)),
      ),
    )
}

async function look(
  fleet: FleetClient,
  flags: StatsFlags,
  { host, output }: CommandContext,
): Promise<FleetReading> {
  const { body } = await fleet.call({ path: '/api/sandbox/stats' }, statsSchema)
  const alerts = firingIn(await fleet.text({ path: '/metrics' }))
  const numbers = flags.db === undefined ? body : withoutLimits(body)
  return {
    hasFindings: alerts.length > 0,
    json: { ...numbers, alerts },
    print: () => print({ numbers, alerts, now: host.clock.now() }, output),
  }
}

/** A ledger does not say how much its deployment allows. */
function withoutLimits(numbers: FleetNumbers): FleetNumbers {
  const { max_concurrent: _most, usage: _usage, ...rest } = numbers
  return rest
}

/** Names of the alerts that fire, from the metrics of a fleet. */
export function firingIn(metrics: string): readonly string[] {
  const samples = metrics.matchAll(/^helix_fleet_alert_firing\{(?<labels>[^\n]*)\} 1$/gm)
  return [...samples].flatMap(({ groups }) => {
    const name = /(?:^|,)alert="(?<name>\w+)"/.exec(groups?.labels ?? '')?.groups?.name
    return name ?? []
  })
}

interface Shown {
  readonly numbers: FleetNumbers
  readonly alerts: readonly string[]
  readonly now: number
}

function print({ numbers, alerts, now }: Shown, output: Output): void {
  const { executions, max_concurrent: most, timeouts } = numbers
  output.fields([
    ['environment', numbers.environment],
    ['active', most === undefined ? String(numbers.active) : `${numbers.active} of ${most}`],
    ['provisioning', String(numbers.provisioning)],
    ['running', String(numbers.running)],
    ['detached', String(numbers.detached)],
    ['terminating', toned(numbers.terminating, 'warning')],
    ['failed', toned(numbers.failed, 'warning')],
    ['created', String(numbers.total_created)],
    ['destroyed', String(numbers.total_destroyed)],
    ['timeouts', `${timeouts} of ${executions} operations`],
    ['last cleanup', lastCleanup(numbers, now)],
  ])
  for (const name of alerts) output.line({ text: `alert: ${name}`, tone: 'bad' })
  if (alerts.length === 0) output.line({ text: 'no alerts', tone: 'good' })
}

function toned(count: number, tone: 'warning'): Cell {
  return count === 0 ? '0' : { text: String(count), tone }
}

/** By the clock of the server where it sends one. */
function lastCleanup({ last_cleanup_at: last = '', time = '' }: FleetNumbers, now: number): Cell {
  if (last === null) return { text: 'never', tone: 'bad' }
  const at = Date.parse(last)
  const until = Date.parse(time)
  return Number.isNaN(at) ? '?' : toAgeText(at, Number.isNaN(until) ? now : until)
}
