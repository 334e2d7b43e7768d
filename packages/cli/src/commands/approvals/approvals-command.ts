import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { registerAnswers } from './answer-commands.ts'
import { registerApprovalsList } from './list-command.ts'
import { registerApprovalsShow } from './show-command.ts'

const HELP = `
Examples:
  helix approvals list --db data/helix.db
  helix approvals show 6f1c 0b7e --db data/helix.db
  helix approvals approve 6f1c 0b7e --by ada
  helix approvals deny 6f1c 0b7e --reason "not on a Friday"`

/** `helix approvals`: calls that wait for a person. */
export function registerApprovals(parent: Command, context: CommandContext): void {
  const group = parent
    .command('approvals')
    .summary('answer calls that wait for a person')
    .description('Lists the calls of a session database that wait for a person, and answers them.')
    .addHelpText('after', HELP)
  registerApprovalsList(group, context)
  registerApprovalsShow(group, context)
  registerAnswers(group, context)
}
