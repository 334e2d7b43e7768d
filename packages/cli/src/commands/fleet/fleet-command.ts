import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { registerList } from './list-command.ts'
import { registerLogs } from './logs-command.ts'
import { registerPasses } from './pass-commands.ts'
import { registerShow } from './show-command.ts'
import { registerStats } from './stats-command.ts'
import { registerTerminate } from './terminate-command.ts'

const HELP = `
The fleet is that of --url, else of $HELIX_FLEET_URL. Its admin token is in $HELIX_FLEET_TOKEN or in
--token-file, never on the command line. stats, list and show read a ledger as well (--db): a SQLite
file or a PostgreSQL URL, whose password may be in $PGPASSWORD.

Examples:
  helix fleet stats --url https://fleet.example.com
  helix fleet list --stuck
  helix fleet cleanup --dry-run`

/** `helix fleet`: what a fleet of sandboxes does, and what to do about it. */
export function registerFleet(parent: Command, context: CommandContext): void {
  const group = parent
    .command('fleet')
    .summary('find and clear stuck and leaked sandboxes')
    .description('Operates a fleet of sandboxes: finds and clears what is stuck or leaked.')
    .addHelpText('after', HELP)
  registerStats(group, context)
  registerList(group, context)
  registerShow(group, context)
  registerLogs(group, context)
  registerTerminate(group, context)
  registerPasses(group, context)
}
