import type { SessionState, SessionStatus } from '@helix-agents/core'
import type { Command } from 'commander'
import { exitCodes } from '../../exit-codes.ts'
import { parseChoice, parseCount } from '../../input/option-parsers.ts'
import type { Cell } from '../../output/cell.ts'
import { toAgeText } from '../../output/duration-text.ts'
import type { Column } from '../../output/table.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import { findSessions, type FoundSessions } from './find-sessions.ts'
import { isHeld, owedWorkspaces, SESSION_STATUSES, statusCell } from './session-facts.ts'
import { toHeadJson } from './session-json.ts'
import { DATABASE_OPTION, withSessions } from './with-sessions.ts'

interface ListFlags {
  readonly db?: string
  readonly agent?: string
  readonly status?: SessionStatus
  readonly limit: number
  readonly cursor?: string
  readonly json?: boolean
}

const COLUMNS: readonly Column[] = [
  { title: 'session' },
  { title: 'agent', minWidth: 8 },
  { title: 'status' },
  { title: 'steps', align: 'right', isOptional: true },
  { title: 'messages', align: 'right', isOptional: true },
  { title: 'workspaces' },
  { title: 'updated', align: 'right' },
]

const HELP = `
Owed workspaces are those of a session that ended and did not get them closed.
A running session whose lease is out has lost its process and can be resumed.
A session whose stored data is damaged is listed after the others, whatever the filters say.

Exit codes: 0 done · 1 damaged sessions · 2 usage · 3 the database cannot be read

Examples:
  helix sessions list --db data/helix.db
  helix sessions list --status failed --limit 5
  helix sessions list --agent repairer --json | jq -r '.items[].sessionId'`

/** `helix sessions list` */
export function registerSessionsList(parent: Command, context: CommandContext): void {
  parent
    .command('list')
    .summary('list sessions, newest first')
    .description('Lists the sessions of a database, newest first.')
    .option(...DATABASE_OPTION)
    .option('--agent <name>', 'only sessions of this agent')
    .option(
      '--status <status>',
      `only sessions that are ${SESSION_STATUSES.join(', ')}`,
      parseChoice(SESSION_STATUSES),
    )
    .option('--limit <n>', 'at most so many', parseCount(1, 100_000), 50)
    .option('--cursor <cursor>', 'go on behind the last page')
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (flags: ListFlags) => list(flags, context))
}

async function list(flags: ListFlags, context: CommandContext): Promise<void> {
  const { host, output, setExitCode } = context
  const found = await withSessions(host, flags.db, async (store) => findSessions(store, flags))
  if (found.unreadable.length > 0) setExitCode(exitCodes.findings)
  if (flags.json === true)
    output.json({ ...found, items: found.items.map((one) => toHeadJson(one)) })
  else print(found, context)
}

function print({ items, unreadable, nextCursor }: FoundSessions, context: CommandContext): void {
  const { host, output } = context
  const now = host.clock.now()
  const damaged = unreadable.map(({ sessionId, code }): Cell[] => [
    sessionId,
    '?',
    { text: code, tone: 'bad' },
  ])
  const rows = [...items.map((session) => toRow(session, now)), ...damaged]
  if (rows.length === 0) output.note('no sessions')
  else output.table(COLUMNS, rows)
  if (damaged.length > 0) output.note(`${damaged.length} of these cannot be read`)
  if (nextCursor !== undefined) output.note(`there are more: --cursor ${nextCursor}`)
}

function toRow(session: SessionState, now: number): Cell[] {
  return [
    session.sessionId,
    session.agentType,
    statusOf(session, now),
    String(session.stepCount),
    String(session.messageCount),
    workspacesCell(session),
    toAgeText(session.updatedAt, now),
  ]
}

function statusOf(session: SessionState, now: number): Cell {
  const hasLostProcess = session.status === 'running' && !isHeld(session, now)
  return hasLostProcess
    ? { text: 'running, lease out', tone: 'warning' }
    : statusCell(session.status)
}

function workspacesCell(session: SessionState): Cell {
  const owed = owedWorkspaces(session).length
  if (owed > 0) return { text: `${owed} owed`, tone: 'warning' }
  const count = Object.keys(session.workspaceRefs).length
  return count === 0 ? '-' : String(count)
}
