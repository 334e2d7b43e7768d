import type { ModuleToolCall, ModuleToolWork } from '../../../define-module.ts'
import { workspaceDirectory } from '../../../fs/path/workspace-path.ts'
import { backgroundMissing } from '../../background-missing.ts'
import type { ShellConfig } from '../../config.ts'
import type { BackgroundProcess, OutputCut, Shell, ShellRunOptions } from '../../contract.ts'
import { exitCodeMeaning } from '../../exit-code.ts'
import { MAX_OUTPUT_BYTES, showOutputs } from '../../output/shown-output.ts'
import { plainTerminalText } from '../../output/terminal-text.ts'
import { findStaleReads, type StaleRead } from '../../stale-reads.ts'

const SHOWN_DURATION_MS = 1000

/** The arguments of `run`. */
export interface RunInput {
  readonly command: string
  readonly opts?: {
    readonly cwd?: string
    readonly timeoutMs?: number
    readonly env?: Readonly<Record<string, string>>
  }
}

type RunCall = ModuleToolCall<Shell, ShellConfig, RunInput>
type RunOrStartCall = ModuleToolCall<
  Shell,
  ShellConfig,
  RunInput & { readonly opts?: { readonly background?: boolean } }
>

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

export const runWork: ModuleToolWork<Shell, ShellConfig, RunInput, RunOutput> = {
  execute: runToEnd,
  toModelOutput: renderRun,
}

export const runOrStartWork: ModuleToolWork<
  Shell,
  ShellConfig,
  RunOrStartCall['input'],
  RunOutput | StartOutput
> = {
  execute: (call) => (call.input.opts?.background === true ? start(call) : runToEnd(call)),
  toModelOutput: (output) => ('process' in output ? renderStart(output) : renderRun(output)),
}

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
