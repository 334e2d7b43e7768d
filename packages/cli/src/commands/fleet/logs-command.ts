import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { logsSchema } from './client/fleet-answers.ts'
import { addServerOptions } from './client/fleet-options.ts'
import { connect, type FleetFlags } from './client/open-fleet.ts'
import { pathOf } from './client/sandbox-path.ts'

interface LogsFlags extends FleetFlags {
  readonly json?: boolean
}

const HELP = `
Exit codes: 0 done · 2 usage · 3 no such sandbox, its provider has no logs, no answer

Examples:
  helix fleet logs sandbox_123
  helix fleet logs sandbox_123 --json | jq -r '.lines[]'`

/** `helix fleet logs` */
export function registerLogs(parent: Command, context: CommandContext): void {
  addServerOptions(parent.command('logs'))
    .summary('the last lines of the commands of a sandbox')
    .description('Prints the last lines of what the commands of a sandbox wrote.')
    .argument('<id>', 'id of the sandbox')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: LogsFlags) => logs(id, flags, context))
}

async function logs(id: string, flags: LogsFlags, context: CommandContext): Promise<void> {
  const { host, output } = context
  const fleet = await connect(host, flags)
  const { body } = await fleet.call({ path: pathOf(id, 'logs') }, logsSchema)
  if (flags.json === true) return output.json(body)
  if (body.is_cut) output.note('older lines were left out')
  if (body.lines.length === 0) output.note('no lines')
  for (const line of body.lines) output.line(line)
}
