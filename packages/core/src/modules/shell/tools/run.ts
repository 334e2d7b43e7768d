import * as z from 'zod'
import type { ModulePreview } from '../../../permissions/module-preview.ts'
import { type ModuleToolCall, toolsFor, type TouchedCommand } from '../../define-module.ts'
import { backgroundMissing } from '../background-missing.ts'
import { showOutputs, MAX_OUTPUT_BYTES } from '../output/shown-output.ts'
import type { ShellConfig } from '../config.ts'
import type { BackgroundProcess, OutputCut, Shell, ShellRunOptions } from '../contract.ts'
import { workspaceDirectory } from '../../fs/path/workspace-path.ts'
import { exitCodeMeaning } from '../exit-code.ts'
import { findStaleReads, type StaleRead } from '../stale-reads.ts'
import { plainTerminalText } from '../output/terminal-text.ts'

/** Linux takes no longer argument. */
const MAX_COMMAND_CHARACTERS = 131_072
const SHOWN_DURATION_MS = 1000

const command = () =>
  z
    .string()
    .min(1)
    .max(MAX_COMMAND_CHARACTERS)
    .describe('The command line. It reads no input: stdin is closed.')

const runOptions = () =>
  z.strictObject({
    cwd: z.string().exactOptional().describe('Working directory. Default: the workspace root.'),
    timeoutMs: z
      .number()
      .int()
      .positive()
      .exactOptional()
      .describe('Time in milliseconds after which the command and all it started is ended.'),
    env: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/), z.string())
      .exactOptional()
      .describe('Variables to add to the environment.'),
  })

const runInput = () => z.strictObject({ command: command(), opts: runOptions().exactOptional() })

const runOrStartInput = () =>
  z.strictObject({
    command: command(),
    opts: runOptions()
      .extend({
        background: z
          .boolean()
          .exactOptional()
          .describe('Start it and return at once; process_output reads what it prints.'),
      })
      .exactOptional(),
  })

/** A command that ran to its end. */
export interface RunOutput {
  readonly exitCode: number
  /** What the exit code says, where it says more than success or failure. */
  readonly meaning?: string
  /** Text with escape sequences; cut in the middle when `stdoutCut` is set. */
  readonly stdout: string
  readonly stderr: string
  readonly stdoutCut?: Pick<OutputCut, 'totalBytes' | 'path'>
  readonly stderrCut?: Pick<OutputCut, 'totalBytes' | 'path'>
  readonly durationMs: number
  readonly timedOut: boolean
  /** Files that this agent has read and that are not the same any more; each is reported once. */
  readonly staleReads: readonly StaleRead[]
}

/** A command that was started in the background. */
export interface StartOutput {
  readonly process: BackgroundProcess
}

const DESCRIPTION =
  'Run a command in the workspace and return its exit code, stdout and stderr. Each command starts fresh in the workspace root: no variable and no cd of an earlier one is left.'
const ANNOTATIONS = { readOnly: false, destructive: true, idempotent: false } as const

export const runTool = toolsFor<Shell, ShellConfig>()({
  name: 'run',
  description: DESCRIPTION,
  inputSchema: runInput,
  annotations: ANNOTATIONS,
  command: touchedCommand,
  preview: previewRun,
  available: (config) => !config.background,
  execute: runToEnd,
  toModelOutput: renderRun,
})

/** The same name with one option more: an agent has one of the two. */
export const runOrStartTool = toolsFor<Shell, ShellConfig>()({
  name: 'run',
  description: `${DESCRIPTION} With opts.background it goes on while you do other things.`,
  inputSchema: runOrStartInput,
  annotations: ANNOTATIONS,
  command: touchedCommand,
  preview: previewRun,
  available: (config) => config.background,
  execute: (call): Promise<RunOutput | StartOutput> =>
    call.input.opts?.background === true ? start(call) : runToEnd(call),
  toModelOutput: (output) => ('process' in output ? renderStart(output) : renderRun(output)),
})

type RunInput = z.output<ReturnType<typeof runInput>>

function touchedCommand({ command: line, opts }: RunInput): TouchedCommand {
  return { line, ...(opts?.env && { variables: Object.keys(opts.env) }) }
}

async function previewRun({
  input,
  config,
}: Pick<RunCall, 'input' | 'config'>): Promise<ModulePreview> {
  return (await import('../command-preview.ts')).previewCommand(input, config)
}

type RunCall = ModuleToolCall<Shell, ShellConfig, RunInput>

async function runToEnd(call: RunCall): Promise<RunOutput> {
  const { module, input, context } = call
  const timeoutMs = input.opts?.timeoutMs
  const result = await module.run(input.command, {
    ...(await surroundings(call)),
    ...(timeoutMs !== undefined && { timeoutMs }),
    signal: context.signal,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    onStdout: async (chunk) => context.progress('stdout', chunk),
    onStderr: async (chunk) => context.progress('stderr', chunk),
  })
  const { stdout, stderr } = await showOutputs(result, context)
  const meaning = exitCodeMeaning(input.command, result)
  return {
    exitCode: result.exitCode,
    ...(meaning !== undefined && { meaning }),
    stdout: stdout.text,
    stderr: stderr.text,
    ...(stdout.cut && { stdoutCut: stdout.cut }),
    ...(stderr.cut && { stderrCut: stderr.cut }),
    durationMs: result.durationMs,
    timedOut: result.timedOut,
    staleReads: await findStaleReads(context),
  }
}

async function start(call: RunCall): Promise<StartOutput> {
  const { module, input, context } = call
  if (module.start === undefined) throw backgroundMissing(context.workspace)
  return { process: await module.start(input.command, await surroundings(call)) }
}

/** Where and with which variables a command runs. */
async function surroundings({
  input,
  context,
}: RunCall): Promise<Pick<ShellRunOptions, 'cwd' | 'env'>> {
  const { cwd, env } = input.opts ?? {}
  return {
    ...(cwd !== undefined && { cwd: await workspaceDirectory(cwd, context) }),
    ...(env !== undefined && { env }),
  }
}

function renderRun(output: RunOutput): string {
  const meaning = output.meaning === undefined ? '' : `: ${output.meaning}`
  const seconds = (output.durationMs / 1000).toFixed(1)
  const duration = output.durationMs < SHOWN_DURATION_MS ? '' : `; ${seconds} s`
  const empty = output.stdout === '' && output.stderr === '' ? '; no output' : ''
  const stale = output.staleReads.map(nameStaleRead).join(', ')
  return [
    section(output.stdout),
    output.stderr === '' ? '' : `[stderr]\n${section(output.stderr)}`,
    `[exit code ${output.exitCode}${meaning}${duration}${empty}]`,
    stale === '' ? '' : `\n[changed since you read them: ${stale}]`,
  ].join('')
}

function nameStaleRead({ path, isRemoved }: StaleRead): string {
  return isRemoved ? `${path} (removed)` : path
}

function section(text: string): string {
  const plain = plainTerminalText(text)
  return plain === '' || plain.endsWith('\n') ? plain : `${plain}\n`
}

function renderStart({ process }: StartOutput): string {
  return `[started in the background: process ${process.id}]`
}
