import { readFile } from 'node:fs/promises'
import type { RequestAnswer, SessionRequest } from '@helix-agents/core/runtime'
import type { Command } from 'commander'
import type { CliHost } from '../../cli-host.ts'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { toAgeText } from '../../output/duration-text.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import { DATABASE_OPTION, withSessions } from '../sessions/with-sessions.ts'
import { stateOf } from './request-facts.ts'
import { findRequest } from './show-command.ts'

interface AnswerFlags {
  readonly db?: string
  readonly by?: string
  readonly reason?: string
  readonly json?: boolean
}

interface ApproveFlags extends AnswerFlags {
  readonly input?: string
  readonly remember?: boolean
}

/** As `respond` of an executor has it: the model reads it. */
const MAX_REASON = 10_000

const EXIT_CODES = `
Exit codes: 0 stored · 1 it was answered or has expired before · 2 usage · 3 no such request,
session or database`

const GO_ON = `
The answer is stored and cannot be changed. Nothing runs here: the process that hosts the session
resumes it, at once when it runs, else when it recovers the session.
`

const APPROVE_HELP = `${GO_ON}
--input edits the arguments: a file with their whole JSON, or - for stdin. The agent checks them
against the schema of the tool and its rules before the call runs, and the model is told.
${EXIT_CODES}

Examples:
  helix approvals approve 6f1c 0b7e --by ada
  helix approvals show 6f1c 0b7e --json | jq '.arguments | fromjson | .path = "/tmp/a"' |
    helix approvals approve 6f1c 0b7e --input -`

const DENY_HELP = `${GO_ON}
The model reads the denial with its reason and continues without the call.
${EXIT_CODES}

Example:
  helix approvals deny 6f1c 0b7e --reason "not on a Friday" --by ada`

/** `helix approvals approve` and `deny` */
export function registerAnswers(parent: Command, context: CommandContext): void {
  answerCommand(parent, 'approve')
    .summary('let a call run')
    .description('Stores that a call may run, once and with exactly these arguments.')
    .option('--input <file>', 'JSON that replaces the arguments; - is stdin')
    .option('--remember', 'equal calls are not asked for again in the session')
    .addHelpText('after', APPROVE_HELP)
    .action(async (sessionId: string, requestId: string, flags: ApproveFlags) => {
      if (flags.remember === true && flags.input !== undefined) {
        throw new CommandError(exitCodes.usage, '--remember is for calls without --input')
      }
      const editedArguments = await readInput(context.host, flags.input)
      const answer: GivenAnswer['answer'] = {
        decision: 'approve',
        ...(editedArguments !== undefined && { editedArguments }),
        ...(flags.remember === true && { remember: 'session' }),
      }
      await store(context, { sessionId, requestId, flags, answer })
    })
  answerCommand(parent, 'deny')
    .summary('reject a call')
    .description('Stores that a call may not run.')
    .addHelpText('after', DENY_HELP)
    .action(async (sessionId: string, requestId: string, flags: AnswerFlags) =>
      store(context, { sessionId, requestId, flags, answer: { decision: 'deny' } }),
    )
}

function answerCommand(parent: Command, name: string): Command {
  return parent
    .command(name)
    .argument('<session>', 'id of the session that lists it')
    .argument('<request>', 'id of the request')
    .option(...DATABASE_OPTION)
    .option('--reason <text>', 'is stored, and the model reads it')
    .option('--by <name>', 'who decides; is stored')
    .option(...JSON_OPTION)
}

/**
 * The edited arguments, byte for byte.
 * @throws {CommandError} for a file that is not there, or holds no JSON.
 */
async function readInput(host: CliHost, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  const text = file === '-' ? await host.stdin.readAll() : await readText(file)
  try {
    JSON.parse(text)
    return text
  } catch {
    throw new CommandError(exitCodes.usage, '--input holds no JSON: give all of the arguments')
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(exitCodes.usage, `--input cannot be read: ${reason}`)
  }
}

interface GivenAnswer {
  readonly sessionId: string
  readonly requestId: string
  readonly flags: AnswerFlags
  readonly answer: Extract<RequestAnswer, { readonly decision: 'approve' | 'deny' }>
}

async function store(context: CommandContext, given: GivenAnswer): Promise<void> {
  const { host, output, setExitCode } = context
  const { sessionId, requestId, flags, answer } = given
  const { by, reason } = flags
  if ((reason ?? '').length > MAX_REASON) {
    throw new CommandError(exitCodes.usage, `--reason has at most ${MAX_REASON} characters`)
  }
  const resolution = {
    ...answer,
    ...(reason !== undefined && { reason }),
    ...(by !== undefined && { by }),
    at: host.clock.now(),
  }
  const open = { ...flags, writable: true }
  const { request, isFirst } = await withSessions(host, open, async (sessions) => {
    const asked = await findRequest(sessions, sessionId, requestId)
    if (answer.decision === 'approve') assertApproval(asked)
    return sessions.resolveRequest(sessionId, requestId, resolution)
  })
  if (!isFirst) setExitCode(exitCodes.findings)
  if (flags.json === true) return output.json({ isFirst, request })
  if (isFirst) output.line(`${answer.decision}: ${request.preview.title}`)
  output.note(
    isFirst
      ? 'stored: the process that hosts the session resumes it'
      : `not stored: ${standing(request, host.clock.now())}`,
  )
}

/** A question is not answered by a yes. */
function assertApproval({ kind }: SessionRequest): void {
  if (kind === 'approval') return
  const what = kind === 'question' ? 'a question' : 'a call that runs at a client'
  throw new CommandError(
    exitCodes.usage,
    `${what} needs an output: executor.respond(agent, sessionId, requestId, ` +
      "{ decision: 'output', output }). Only deny works here.",
  )
}

function standing(request: SessionRequest, now: number): string {
  const { resolution } = request
  if (resolution === undefined) return stateOf(request, now)
  const { by, decision, at } = resolution
  const who = by === undefined ? '' : ` by ${by}`
  return `it was decided before: ${decision}${who}, ${toAgeText(at, now)}`
}
