import type { Command } from 'commander'
import type { Cell } from '../../../output/cell.ts'
import type { Output } from '../../../output/output.ts'
import { type CommandContext, JSON_OPTION } from '../../command-context.ts'
import {
  type ChangedWorkspace,
  HOST_HELP,
  HOST_OPTION,
  type HostedSession,
  withHostedSession,
} from './open-host.ts'

interface HostFlags {
  readonly host: string
  readonly json?: boolean
}

interface DiffFlags extends HostFlags {
  readonly workspace?: string
  readonly patch?: boolean
}

interface RewindFlags extends HostFlags {
  readonly files?: true | readonly string[]
}

interface BranchFlags extends HostFlags {
  readonly checkpoint?: string
  readonly files?: boolean
  readonly id?: string
}

const EXIT_CODES = `

Exit codes: 0 done · 1 it runs, waits for a person, or has no files of that time · 2 usage
  3 no such session, checkpoint or module`

const DIFF_HELP = `${HOST_HELP}
A checkpoint is also now: the files as they are. Credentials in diffs are hidden.${EXIT_CODES}

Examples:
  helix sessions diff 6f1c ~2 --host app.ts            what changed in the last two steps
  helix sessions diff 6f1c ~2 ~1 --host app.ts --patch`

const REWIND_HELP = `${HOST_HELP}
Later messages are removed from the session, and cannot be had back: branch first to keep them.
${EXIT_CODES}

Examples:
  helix sessions rewind 6f1c ~2 --host app.ts --files        conversation and files
  helix sessions rewind 6f1c ~2 --host app.ts --files repo   files of one workspace`

const BRANCH_HELP = `${HOST_HELP}
The session itself stays as it is.${EXIT_CODES}

Example:
  helix sessions branch 6f1c --checkpoint ~2 --files --host app.ts`

/** `helix sessions diff`, `rewind` and `branch` */
export function registerSessionsHistory(parent: Command, context: CommandContext): void {
  hostedCommand(parent, 'diff', 'show what changed in the files of a session')
    .argument('<from>', 'a checkpoint')
    .argument('[to]', 'a later one', 'now')
    .option('--workspace <name>', 'only this workspace')
    .option('--patch', 'also the lines that differ')
    .addHelpText('after', DIFF_HELP)
    .action(async (id: string, from: string, to: string, flags: DiffFlags) => {
      await withSession(context, id, flags, async (session) => diff(session, { from, to, flags }))
    })
  hostedCommand(parent, 'rewind', 'go back to a checkpoint, with files or without')
    .argument('<checkpoint>', 'where to go back to')
    .option('--files [workspaces...]', 'files go back too, of all workspaces with a history')
    .addHelpText('after', REWIND_HELP)
    .action(async (id: string, checkpoint: string, flags: RewindFlags) => {
      await withSession(context, id, flags, async (session) => rewind(session, checkpoint, flags))
    })
  hostedCommand(parent, 'branch', 'make a new session from a checkpoint')
    .option('--checkpoint <checkpoint>', 'where it begins (default: the session as it is)')
    .option('--files', 'with the files of the checkpoint')
    .option('--id <id>', 'id of the new session')
    .addHelpText('after', BRANCH_HELP)
    .action(async (id: string, flags: BranchFlags) => {
      await withSession(context, id, flags, async (session) => branch(session, flags))
    })
}

function hostedCommand(parent: Command, name: string, summary: string): Command {
  return parent
    .command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
    .argument('<id>', 'id of the session')
    .requiredOption(...HOST_OPTION)
    .option(...JSON_OPTION)
}

/** What a command did: for programs, and for people. */
interface Done {
  readonly json: unknown
  readonly print: (output: Output) => void
}

async function withSession(
  { host, output }: CommandContext,
  sessionId: string,
  flags: HostFlags,
  work: (session: HostedSession) => Promise<Done>,
): Promise<void> {
  const { json, print } = await withHostedSession(host, { file: flags.host, sessionId }, work)
  if (flags.json === true) output.json(json)
  else print(output)
}

async function diff(
  { executor, agent, sessionId, checkpoint }: HostedSession,
  { from, to, flags }: { readonly from: string; readonly to: string; readonly flags: DiffFlags },
): Promise<Done> {
  const points = { from: await checkpoint(from), to: await checkpoint(to) }
  const { workspace } = flags
  const wanted = { ...points, ...(workspace !== undefined && { workspace }) }
  const workspaces = await executor.diff(agent, sessionId, wanted)
  return {
    json: { ...points, workspaces },
    print: (output) => {
      for (const one of workspaces) printChanges(one, flags, output)
    },
  }
}

const TONES = { added: 'good', removed: 'bad' } as const

function printChanges(
  { workspace, changes, total }: ChangedWorkspace,
  { patch }: DiffFlags,
  output: Output,
): void {
  if (total === 0) return output.note(`${workspace}: no differences`)
  output.heading(workspace)
  output.table(
    [{ title: 'change' }, { title: 'path', minWidth: 16 }],
    changes.map(({ change, path }): Cell[] => {
      const tone = change === 'added' || change === 'removed' ? TONES[change] : 'warning'
      return [{ text: change, tone }, path]
    }),
  )
  for (const one of patch === true ? changes : []) {
    for (const line of one.diff?.trimEnd().split('\n') ?? []) output.line(lineCell(line))
    if (one.omitted !== undefined) output.note(`${one.path}: ${one.omitted}`)
  }
  if (changes.length < total) output.note(`${total - changes.length} more are not listed`)
}

function lineCell(line: string): Cell {
  if (line.startsWith('+')) return { text: line, tone: 'good' }
  return line.startsWith('-') ? { text: line, tone: 'bad' } : line
}

async function rewind(
  { executor, agent, sessionId, checkpoint }: HostedSession,
  given: string,
  { files }: RewindFlags,
): Promise<Done> {
  const checkpointId = await checkpoint(given)
  await executor.restoreCheckpoint(agent, sessionId, checkpointId, {
    ...(files !== undefined && { files }),
  })
  const what = files === undefined ? 'files stay as they are' : 'files went back too'
  return {
    json: { sessionId, checkpointId, files: files ?? false },
    print: (output) => {
      output.line(checkpointId)
      output.note(`the session is at this checkpoint; ${what}`)
    },
  }
}

async function branch(
  { executor, agent, sessionId, checkpoint }: HostedSession,
  { checkpoint: given, files, id }: BranchFlags,
): Promise<Done> {
  const checkpointId = given === undefined ? undefined : await checkpoint(given)
  const made = await executor.branch(agent, {
    fromSessionId: sessionId,
    ...(checkpointId !== undefined && { checkpointId }),
    ...(id !== undefined && { sessionId: id }),
    ...(files === true && { files: 'checkpoint' }),
  })
  return {
    json: { sessionId: made.sessionId, from: sessionId, ...(checkpointId && { checkpointId }) },
    print: (output) => output.line(made.sessionId),
  }
}
