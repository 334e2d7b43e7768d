import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { registerSessionsList } from './list-command.ts'
import { registerSessionsShow } from './show-command.ts'

const HELP = `
Examples:
  helix sessions list --db data/helix.db
  helix sessions show 6f1c --db data/helix.db`

/** `helix sessions`: what a session database holds. */
export function registerSessions(parent: Command, context: CommandContext): void {
  const group = parent
    .command('sessions')
    .summary('look into a session database')
    .description('Reads a session database. Changes nothing and creates no file.')
    .addHelpText('after', HELP)
  registerSessionsList(group, context)
  registerSessionsShow(group, context)
}
