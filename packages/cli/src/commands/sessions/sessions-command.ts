import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { registerSessionsHistory } from './history/history-commands.ts'
import { registerSessionsList } from './list-command.ts'
import { registerSessionsShow } from './show-command.ts'

const HELP = `
Examples:
  helix sessions list --db data/helix.db
  helix sessions show 6f1c --db data/helix.db`

/** `helix sessions`: what a session database holds, and the way back. */
export function registerSessions(parent: Command, context: CommandContext): void {
  const group = parent
    .command('sessions')
    .summary('look into a session database, go back in a session')
    .description('Reads a session database; diff, rewind and branch use an executor of yours.')
    .addHelpText('after', HELP)
  registerSessionsList(group, context)
  registerSessionsShow(group, context)
  registerSessionsHistory(group, context)
}
