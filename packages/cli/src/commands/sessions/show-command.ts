import type { Command } from 'commander'
import { parseCount } from '../../input/option-parsers.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import { printSession } from './print-session.ts'
import { readSession } from './read-session.ts'
import { toReportJson } from './session-json.ts'
import { DATABASE_OPTION, withSessions } from './with-sessions.ts'

interface ShowFlags {
  readonly db?: string
  readonly messages?: number | true
  readonly checkpoints?: boolean
  readonly refs?: boolean
  readonly json?: boolean
}

const FEW_MESSAGES = 5
const MANY_MESSAGES = 50

const HELP = `
What a provider keeps in a ref can be a secret, so it is not shown without --refs.

Exit codes: 0 done · 1 the session is damaged · 2 usage · 3 no such session or database

Examples:
  helix sessions show 6f1c --db data/helix.db
  helix sessions show 6f1c --messages 20 --checkpoints
  helix sessions show 6f1c --json | jq .journal`

/** `helix sessions show` */
export function registerSessionsShow(parent: Command, context: CommandContext): void {
  parent
    .command('show')
    .summary('show one session, and how to continue it')
    .description('Shows one session: runs, workspaces, calls under way, last messages, what to do.')
    .argument('<id>', 'id of the session')
    .option(...DATABASE_OPTION)
    .option(
      '--messages [n]',
      `the last n messages (default: ${FEW_MESSAGES}; without n: ${MANY_MESSAGES})`,
      parseCount(0, 100_000),
    )
    .option('--checkpoints', 'also the newest checkpoints')
    .option('--refs', 'also what providers keep in the refs of workspaces')
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (sessionId: string, flags: ShowFlags) => show(sessionId, flags, context))
}

async function show(sessionId: string, flags: ShowFlags, context: CommandContext): Promise<void> {
  const { host, output } = context
  const query = {
    sessionId,
    messageCount: flags.messages === true ? MANY_MESSAGES : (flags.messages ?? FEW_MESSAGES),
    hasCheckpoints: flags.checkpoints === true,
  }
  const report = await withSessions(host, flags, async (store) => readSession(store, query))
  const options = { hasRefs: flags.refs === true }
  if (flags.json === true) output.json(toReportJson(report, options))
  else printSession(report, { ...options, output, now: host.clock.now() })
}
