import type { WorkspaceRef } from '@helix-agents/core/provider'
import type { SessionState } from '@helix-agents/core/runtime'
import type { Cell } from '../../output/cell.ts'
import { toAgeText, toDurationText, toTimeText } from '../../output/duration-text.ts'
import type { Output } from '../../output/output.ts'
import { adviceFor } from './advice.ts'
import { toMessageRow } from './message-row.ts'
import type { SessionReport } from './read-session.ts'
import { isHeld, owedWorkspaces, statusCell } from './session-facts.ts'

interface PrintOptions {
  readonly output: Output
  readonly now: number
  readonly hasRefs: boolean
}

/** A session for a person, its sections in the order in which one asks. */
export function printSession(report: SessionReport, options: PrintOptions): void {
  const { output, now } = options
  output.fields(headFields(report.session, now))
  printRuns(report, output)
  printWorkspaces(report, options)
  printJournal(report, options)
  printMessages(report, output)
  printCheckpoints(report, output)
  output.heading('How to continue')
  for (const line of adviceFor(report, now)) output.line(line)
}

function headFields(session: SessionState, now: number): [string, Cell][] {
  const { error, leaseUntil, output, parentSessionId, userId, tags } = session
  const fields: [string, Cell | undefined][] = [
    ['session', session.sessionId],
    ['agent', session.agentType],
    ['status', statusCell(session.status)],
    ['lease', leaseUntil === undefined ? undefined : leaseCell(leaseUntil, now)],
    ['error', error && { text: `${error.code}: ${error.message}`, tone: 'bad' }],
    ['output', output === undefined ? undefined : JSON.stringify(output)],
    ['parent', parentSessionId],
    ['user', userId],
    ['tags', tags?.join(', ')],
    ['steps', `${session.stepCount} in ${session.messageCount} messages`],
    ['created', `${toTimeText(session.createdAt)}, ${toAgeText(session.createdAt, now)}`],
    ['updated', `${toTimeText(session.updatedAt)}, ${toAgeText(session.updatedAt, now)}`],
  ]
  return fields.flatMap(([title, cell]) => (cell === undefined ? [] : [[title, cell]]))
}

function leaseCell(until: number, now: number): Cell {
  const isOver = until <= now
  const distance = isOver
    ? `ran out ${toAgeText(until, now)}`
    : `${toDurationText(until - now)} left`
  const text = `${toTimeText(until)}, ${distance}`
  return isOver ? { text, tone: 'warning' } : text
}

function printRuns({ runs }: SessionReport, output: Output): void {
  if (runs.length === 0) return
  output.heading('Runs')
  output.table(
    [
      { title: 'turn', align: 'right' },
      { title: 'run', minWidth: 8 },
      { title: 'status' },
      { title: 'steps', align: 'right' },
      { title: 'started' },
      { title: 'took', align: 'right' },
    ],
    runs.map(({ turn, runId, status, stepCount, startedAt, endedAt }) => [
      String(turn),
      runId,
      statusCell(status),
      String(stepCount),
      toTimeText(startedAt),
      endedAt === undefined ? '-' : toDurationText(endedAt - startedAt),
    ]),
  )
}

function printWorkspaces({ session }: SessionReport, { output, hasRefs }: PrintOptions): void {
  const refs = Object.entries(session.workspaceRefs)
  if (refs.length === 0) return
  const owed = owedWorkspaces(session)
  output.heading('Workspaces')
  output.table(
    [
      { title: 'name', minWidth: 8 },
      { title: 'provider', minWidth: 10 },
      { title: 'ref version', align: 'right' },
      { title: 'capabilities', minWidth: 12 },
      { title: 'storage' },
      ...(hasRefs ? [{ title: 'ref', minWidth: 20 }] : []),
    ],
    refs.map(([name, ref]) => [
      name,
      ref.providerId,
      String(ref.schemaVersion),
      capabilitiesOf(ref),
      owed.includes(name) ? { text: 'owed', tone: 'warning' } : 'kept',
      ...(hasRefs ? [JSON.stringify(ref.ref)] : []),
    ]),
  )
}

function capabilitiesOf({ capabilities }: WorkspaceRef): string {
  const declared = Object.entries(capabilities).filter(([, isDeclared]) => isDeclared)
  return declared.map(([name]) => name).join(', ')
}

function printJournal({ journal, session }: SessionReport, { output, now }: PrintOptions): void {
  if (journal.length === 0) return
  const open: Cell = isHeld(session, now)
    ? 'under way'
    : { text: 'outcome unknown', tone: 'warning' }
  output.heading('Journal of the step that was under way')
  output.table(
    [
      { title: 'call', minWidth: 8 },
      { title: 'tool', minWidth: 16 },
      { title: 'started', align: 'right' },
      { title: 'outcome' },
    ],
    journal.map(({ toolCallId, toolName, startedAt, result }) => [
      toolCallId,
      toolName,
      toAgeText(startedAt, now),
      result === undefined ? open : outcomeOf(result.message.isError === true),
    ]),
  )
}

function outcomeOf(isError: boolean): Cell {
  return isError ? { text: 'error', tone: 'bad' } : { text: 'done', tone: 'good' }
}

function printMessages({ messages, session }: SessionReport, output: Output): void {
  if (messages.length === 0) return
  const first = Math.max(0, session.messageCount - messages.length) + 1
  output.heading(`Messages, the last ${messages.length} of ${session.messageCount}`)
  output.table(
    [{ title: '#', align: 'right' }, { title: 'role' }, { title: 'text', minWidth: 20 }],
    messages.map((message, index) => toMessageRow(message, first + index)),
  )
}

function printCheckpoints({ checkpoints }: SessionReport, output: Output): void {
  if (checkpoints === undefined) return
  output.heading('Checkpoints, the newest first')
  output.table(
    [
      { title: 'step', align: 'right' },
      { title: 'messages', align: 'right' },
      { title: 'made' },
      { title: 'id' },
    ],
    checkpoints.map(({ id, stepCount, messageCount, createdAt }) => [
      String(stepCount),
      String(messageCount),
      toTimeText(createdAt),
      id,
    ]),
  )
}
