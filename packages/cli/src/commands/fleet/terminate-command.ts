import type { Command } from 'commander'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Cell } from '../../output/cell.ts'
import type { CommandContext } from '../command-context.ts'
import { terminationSchema } from './client/fleet-answers.ts'
import type { FleetClient } from './client/fleet-client.ts'
import { addServerOptions } from './client/fleet-options.ts'
import { connect, type FleetFlags } from './client/open-fleet.ts'
import { pathOf } from './client/sandbox-path.ts'

interface TerminateFlags extends FleetFlags {
  readonly reason?: string
  readonly json?: boolean
}

interface Ended {
  readonly id: string
  readonly outcome: string
  readonly exitCode: number
}

const GONE: readonly string[] = ['destroyed', 'gone']

const HELP = `
Ends sandboxes in use or not. "owed" is not confirmed: the fleet tries again until it is, and the
list shows it until then.

Exit codes: 0 all are gone · 1 some are owed · 2 usage · 3 some do not exist, no answer

Examples:
  helix fleet terminate sandbox_123 --reason "busy loop in the parser"
  helix fleet list --stuck --json | jq -r '.items[].id' | xargs helix fleet terminate`

/** `helix fleet terminate` */
export function registerTerminate(parent: Command, context: CommandContext): void {
  addServerOptions(parent.command('terminate'))
    .summary('end sandboxes now, in use or not')
    .description('Ends sandboxes now, in use or not.')
    .argument('<id...>', 'ids of the sandboxes')
    .option('--reason <text>', 'recorded with each sandbox')
    .addHelpText('after', HELP)
    .action(async (ids: readonly string[], flags: TerminateFlags) => terminate(ids, flags, context))
}

async function terminate(
  ids: readonly string[],
  flags: TerminateFlags,
  { host, output, setExitCode }: CommandContext,
): Promise<void> {
  const paths = ids.map((id) => pathOf(id))
  const fleet = await connect(host, flags)
  const ended: Ended[] = []
  for (const [index, path] of paths.entries()) {
    const one = await endOne(fleet, path, flags.reason)
    ended.push({ id: ids[index] ?? '', ...one })
  }
  setExitCode(Math.max(...ended.map(({ exitCode }) => exitCode)))
  const results = ended.map(({ id, outcome }) => ({ id, outcome }))
  if (flags.json === true) output.json({ items: results })
  else output.table([{ title: 'sandbox' }, { title: 'outcome', minWidth: 12 }], ended.map(toRow))
}

/** One that fails does not keep the others. */
async function endOne(
  fleet: FleetClient,
  path: string,
  reason: string | undefined,
): Promise<Omit<Ended, 'id'>> {
  try {
    const call = { method: 'DELETE', path, query: { reason } } as const
    const { outcome } = (await fleet.call(call, terminationSchema)).body
    return { outcome, exitCode: GONE.includes(outcome) ? exitCodes.ok : exitCodes.findings }
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode === exitCodes.usage) throw error
    return { outcome: error.message, exitCode: error.exitCode }
  }
}

function toRow({ id, outcome, exitCode }: Ended): Cell[] {
  const tone = exitCode === exitCodes.ok ? 'good' : exitCode === 1 ? 'warning' : 'bad'
  return [id, { text: outcome, tone }]
}
