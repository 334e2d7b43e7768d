import { StateStoreError } from '@helix-agents/core'
import type { SessionRequest, SessionStateStore } from '@helix-agents/core/runtime'
import type { Command } from 'commander'
import type { Cell, Tone } from '../../output/cell.ts'
import { toAgeText, toTimeText } from '../../output/duration-text.ts'
import type { Output } from '../../output/output.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import { DATABASE_OPTION, withSessions } from '../sessions/with-sessions.ts'
import { askerText, expiryText, stateCell } from './request-facts.ts'

interface ShowFlags {
  readonly db?: string
  readonly json?: boolean
}

const HELP = `
The arguments are the exact text that the tool gets; the preview is what a person decides by.

Exit codes: 0 done · 1 the request is damaged · 2 usage · 3 no such request, session or database

Examples:
  helix approvals show 6f1c 0b7e --db data/helix.db
  helix approvals show 6f1c 0b7e --json | jq -r .arguments`

/** `helix approvals show` */
export function registerApprovalsShow(parent: Command, context: CommandContext): void {
  parent
    .command('show')
    .summary('show one request: what would run, and what it changes')
    .description('Shows one request: who asks, what would run, what it changes, how it stands.')
    .argument('<session>', 'id of the session that lists it')
    .argument('<request>', 'id of the request')
    .option(...DATABASE_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (sessionId: string, requestId: string, flags: ShowFlags) => {
      const { host, output } = context
      const request = await withSessions(host, flags, async (store) =>
        findRequest(store, sessionId, requestId),
      )
      if (flags.json === true) output.json(request)
      else printRequest(request, { output, now: host.clock.now() })
    })
}

/** @throws {StateStoreError} `not-found`, also for a request of another session */
export async function findRequest(
  store: SessionStateStore,
  sessionId: string,
  requestId: string,
): Promise<SessionRequest> {
  const request = await store.getRequest(sessionId, requestId)
  if (request !== undefined) return request
  throw new StateStoreError('not-found', sessionId, 'it has no such request')
}

interface PrintOptions {
  readonly output: Output
  readonly now: number
}

function printRequest(request: SessionRequest, options: PrintOptions): void {
  const { output, now } = options
  const { preview } = request
  output.fields(fieldsOf(request, now))
  output.heading('Preview')
  output.line({ text: preview.title, tone: 'strong' })
  for (const line of (preview.body ?? '').split('\n')) output.line(bodyCell(line, preview.format))
  if (preview.truncated === true) output.note('the preview is cut: the arguments are whole')
  output.heading('Arguments')
  output.line(request.arguments)
}

function fieldsOf(request: SessionRequest, now: number): [string, Cell][] {
  const { requestId, sessionId, askingSessionId, createdAt, startedAt, expiresAt } = request
  const answer = request.resolution
  const fields: [string, Cell | undefined][] = [
    ['request', requestId],
    ['session', sessionId],
    ['asked by', askerText(request)],
    ['asking session', askingSessionId === sessionId ? undefined : askingSessionId],
    ['kind', request.kind],
    ['tool', request.toolName],
    ['call', request.toolCallId],
    ['asked', `${toTimeText(createdAt)}, ${toAgeText(createdAt, now)}`],
    ['expires', expiresAt === undefined ? undefined : expiryText(request, now)],
    ['state', stateCell(request, now)],
    ['decision', answer && `${answer.decision}, ${toAgeText(answer.at, now)}`],
    ['by', answer?.by],
    ['reason', answer !== undefined && 'reason' in answer ? answer.reason : undefined],
    ['edited', editedOf(request)],
    ['started', startedAt === undefined ? undefined : toAgeText(startedAt, now)],
    ['replaced by', request.replacedBy],
  ]
  return fields.flatMap(([title, cell]) => (cell === undefined ? [] : [[title, cell]]))
}

function editedOf({ resolution }: SessionRequest): string | undefined {
  return resolution?.decision === 'approve' ? resolution.editedArguments : undefined
}

/** Indented: no line of a preview looks like one of the program. */
function bodyCell(line: string, format: SessionRequest['preview']['format']): Cell {
  const text = `  ${line}`
  const tone = format === 'diff' ? DIFF_TONES.get(line.charAt(0)) : undefined
  return tone === undefined ? text : { text, tone }
}

const DIFF_TONES: ReadonlyMap<string, Tone> = new Map([
  ['+', 'good'],
  ['-', 'bad'],
  ['@', 'faint'],
])
