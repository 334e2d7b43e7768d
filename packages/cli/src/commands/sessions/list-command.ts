import type { SessionState, SessionStatus } from '@helix-agents/core/runtime'
import type { Command } from 'commander'
import { exitCodes } from '../../exit-codes.ts'
import { parseChoice, parseCount } from '../../input/option-parsers.ts'
import type { Cell } from '../../output/cell.ts'
import { toAgeText } from '../../output/duration-text.ts'
import type { Column } from '../../output/table.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import {
  findSessions,
  type FoundSession,
  type FoundSessions,
  type SessionFilter,
} from './find-sessions.ts'
import { isHeld, owedWorkspaces, SESSION_STATUSES, statusCell } from './session-facts.ts'
import { toHeadJson } from './session-json.ts'
import { DATABASE_OPTION, withSessions } from './with-sessions.ts'
import { WORKSPACE_FAILURES, type WorkspaceFailure } from './workspace-failures.ts'

interface ListFlags {
  readonly db?: string
  readonly agent?: string
  readonly status?: SessionStatus
  readonly limit: number
  readonly cursor?: string
  readonly workspaceError?: NonNullable<SessionFilter['workspaceError']>
  readonly refVersion?: number
  readonly owed?: boolean
  readonly scan: number
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

const FAILURES: Column = { title: 'workspace error', minWidth: 16 }

const HELP = `
--workspace-error finds sessions whose workspace could not be opened or used when it was called
last, whatever the status of the session: its run continues without it. For it, --ref-version and
--owed sessions are read one by one, at most --scan of them; the output says where to continue.
Owed workspaces are those of a session that ended and did not get them closed.
A running session whose lease is out has lost its process and can be resumed.
A session whose stored data is damaged is listed after the others, whatever the filters say.

Exit codes: 0 done · 1 damaged sessions · 2 usage · 3 the database cannot be read

Examples:
  helix sessions list --db data/helix.db
  helix sessions list --status failed --limit 5
  helix sessions list --workspace-error any
  helix sessions list --workspace-error ref-version --json | jq -r '.items[].sessionId'
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
    .option(
      '--workspace-error <code>',
      `only with a failed workspace: any, ${WORKSPACE_FAILURES.join(', ')}`,
      parseChoice(['any', ...WORKSPACE_FAILURES] as const),
    )
    .option(
      '--ref-version <n>',
      'only with a workspace ref of this version',
      parseCount(1, 1_000_000),
    )
    .option('--owed', 'only with a workspace that could not be closed')
    .option(
      '--scan <n>',
      'maximum number of sessions to examine for these three',
      parseCount(1, 1_000_000),
      1000,
    )
    .option('--limit <n>', 'maximum number of sessions', parseCount(1, 100_000), 50)
    .option('--cursor <cursor>', 'continue after the last page')
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (flags: ListFlags) => list(flags, context))
}

async function list(flags: ListFlags, context: CommandContext): Promise<void> {
  const { host, output, setExitCode } = context
  const found = await withSessions(host, flags, async (store) => findSessions(store, flags))
  if (found.unreadable.length > 0) setExitCode(exitCodes.findings)
  if (flags.json === true) output.json({ ...found, items: found.items.map(toItemJson) })
  else print(found, context)
}

function toItemJson({ failures, session }: FoundSession) {
  return { ...toHeadJson(session), ...(failures !== undefined && { workspaceErrors: failures }) }
}

function print(found: FoundSessions, context: CommandContext): void {
  const { items, nextCursor, stoppedAfter, unreadable } = found
  const { host, output } = context
  const now = host.clock.now()
  const damaged = unreadable.map(({ sessionId, code }): Cell[] => [
    sessionId,
    '?',
    { text: code, tone: 'bad' },
  ])
  const rows = [...items.map((one) => toRow(one, now)), ...damaged]
  const hasFailures = items.some(({ failures }) => failures !== undefined)
  if (rows.length === 0) output.note('no sessions')
  else output.table(hasFailures ? [...COLUMNS, FAILURES] : COLUMNS, rows)
  if (damaged.length > 0) output.note(`${damaged.length} of these cannot be read`)
  if (stoppedAfter !== undefined) output.note(`stopped after ${stoppedAfter} sessions (--scan)`)
  if (nextCursor !== undefined) output.note(`there are more: --cursor ${nextCursor}`)
}

function toRow({ failures, session }: FoundSession, now: number): Cell[] {
  const row = toSessionRow(session, now)
  return failures === undefined ? row : [...row, { text: toText(failures), tone: 'bad' }]
}

function toText(failures: readonly WorkspaceFailure[]): string {
  return failures.map(({ code, workspace = '?' }) => `${workspace}: ${code}`).join(', ')
}

function toSessionRow(session: SessionState, now: number): Cell[] {
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
