import type { RequestPage, SessionRequest, SessionStateStore } from '@helix-agents/core/runtime'
import type { Command } from 'commander'
import { exitCodes } from '../../exit-codes.ts'
import { parseCount } from '../../input/option-parsers.ts'
import type { Cell } from '../../output/cell.ts'
import { toAgeText } from '../../output/duration-text.ts'
import type { Column } from '../../output/table.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import { DATABASE_OPTION, withSessions } from '../sessions/with-sessions.ts'
import { askerText, expiryText, stateCell } from './request-facts.ts'

interface ListFlags {
  readonly db?: string
  readonly session?: string
  readonly all?: boolean
  readonly limit: number
  readonly cursor?: string
  readonly json?: boolean
}

const COLUMNS: readonly Column[] = [
  { title: 'session', minWidth: 8 },
  { title: 'request', minWidth: 8 },
  { title: 'agent', minWidth: 8, isOptional: true },
  { title: 'tool', minWidth: 8 },
  { title: 'asks for', minWidth: 16 },
  { title: 'asked', align: 'right' },
  { title: 'expires', align: 'right', isOptional: true },
]
const STATE: Column = { title: 'state' }

const HELP = `
A request stays in the list until it is answered, has expired, or its call is given up. A request
of a sub-agent is listed with the session of its root.

Exit codes: 0 done · 1 a request is damaged · 2 usage · 3 no such session or database

Examples:
  helix approvals list --db data/helix.db
  helix approvals list --session 6f1c --all
  helix approvals list --json | jq -r '.items[] | [.sessionId, .requestId] | @tsv'`

/** `helix approvals list` */
export function registerApprovalsList(parent: Command, context: CommandContext): void {
  parent
    .command('list')
    .summary('list open requests, oldest first')
    .description('Lists the requests that wait for an answer, oldest first.')
    .option(...DATABASE_OPTION)
    .option('--session <id>', 'only those of this session and its sub-agents')
    .option('--all', 'also those that were answered, have expired or were given up')
    .option('--limit <n>', 'at most so many', parseCount(1, 100_000), 50)
    .option('--cursor <cursor>', 'continue after the last page')
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (flags: ListFlags) => list(flags, context))
}

async function list(flags: ListFlags, context: CommandContext): Promise<void> {
  const { host, output, setExitCode } = context
  const now = host.clock.now()
  const found = await withSessions(host, flags, async (store) => readPages(store, flags, now))
  if (found.unreadable.length > 0) setExitCode(exitCodes.findings)
  if (flags.json === true) return output.json(found)
  const columns = flags.all === true ? [...COLUMNS, STATE] : COLUMNS
  const rows = found.items.map((request) => toRow(request, now))
  if (rows.length === 0) output.note('no requests')
  else output.table(columns, flags.all === true ? rows : rows.map((row) => row.slice(0, -1)))
  for (const id of found.unreadable) output.note(`damaged: request ${id}`)
  if (found.nextCursor !== undefined) output.note(`there are more: --cursor ${found.nextCursor}`)
}

/** What a store gives at once. */
const MAX_PAGE = 200

async function readPages(
  store: SessionStateStore,
  { session, all, limit, cursor }: ListFlags,
  now: number,
): Promise<RequestPage & { readonly unreadable: readonly string[] }> {
  const items: SessionRequest[] = []
  const unreadable: string[] = []
  let next = cursor
  do {
    const page = await store.listRequests({
      now,
      limit: Math.min(limit - items.length, MAX_PAGE),
      ...(session !== undefined && { sessionId: session }),
      ...(all !== true && { state: 'open' }),
      ...(next !== undefined && { cursor: next }),
    })
    items.push(...page.items)
    unreadable.push(...(page.unreadable ?? []))
    next = page.nextCursor
  } while (next !== undefined && items.length < limit)
  return { items, unreadable, ...(next !== undefined && { nextCursor: next }) }
}

function toRow(request: SessionRequest, now: number): Cell[] {
  const { sessionId, requestId, toolName, preview, createdAt } = request
  return [
    sessionId,
    requestId,
    askerText(request),
    toolName,
    preview.title,
    toAgeText(createdAt, now),
    expiryText(request, now),
    stateCell(request, now),
  ]
}
