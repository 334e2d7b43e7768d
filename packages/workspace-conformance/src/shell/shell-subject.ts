import type {
  RunResult,
  Shell,
  ShellCommand,
  ShellRunOptions,
  Workspace,
} from '@helix-agents/core/provider'
import { check, ConformanceError, textOf } from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'

/** A clause about commands. */
export type ShellBehaviour = Behaviour<Workspace>

/** The shell of a workspace that must have one. */
export function shellOf(workspace: Workspace): Shell {
  check(workspace.shell !== undefined, 'a workspace with a shell')
  return workspace.shell
}

/** Runs a command. */
export function run(
  workspace: Workspace,
  command: ShellCommand,
  options?: ShellRunOptions,
): Promise<RunResult> {
  return shellOf(workspace).run(command, options)
}

/** Standard output of a command as text, without the final newline. */
export async function outputOf(
  workspace: Workspace,
  command: ShellCommand,
  options?: ShellRunOptions,
): Promise<string> {
  const result = await run(workspace, command, options)
  return textOf(result.stdout).replace(/\n$/, '')
}

/** Output and exit code, for comparison. */
export function summary(result: RunResult): [stdout: string, stderr: string, exitCode: number] {
  return [textOf(result.stdout), textOf(result.stderr), result.exitCode]
}

/**
 * Commands act where they start. A behaviour writes, replaces and removes there only when the
 * directory is as empty as a new workspace: no project, home or root of a host is.
 */
export async function assertStartsEmpty(workspace: Workspace): Promise<void> {
  const { stdout, stderr, exitCode, timedOut } = await run(workspace, 'ls -A')
  const end = timedOut ? 'the end of its time' : `exit code ${exitCode}`
  check(
    exitCode === 0 && stdout.length === 0,
    `commands to start in the new and empty workspace, got ${end}, ${textOf(stdout).slice(0, 200)}${textOf(stderr).slice(0, 200)}; nothing else was run`,
  )
}

/** The next command still works. */
export async function stillWorks(workspace: Workspace): Promise<void> {
  const got = await outputOf(workspace, 'echo fine')
  check(got === 'fine', `the next command to work, got ${got}`)
}

/** Repeats a look, with a short command in between, until it succeeds. */
export async function waitFor(
  workspace: Workspace,
  what: string,
  look: () => Promise<boolean>,
): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await look()) return
    await run(workspace, 'sleep 0.05')
  }
  throw new ConformanceError(`expected ${what}`)
}

/** A loop that writes to a file for as long as it lives; where nothing ends it, it does so itself. */
export const HEARTBEAT =
  'n=0; while [ $n -lt 5000 ]; do n=$((n + 1)); echo x >> beat; sleep 0.02; done'

/** Nothing writes to the heartbeat file any more. */
export async function heartStopped(workspace: Workspace): Promise<void> {
  const first = await outputOf(workspace, 'wc -c < beat; sleep 0.3; wc -c < beat')
  const [before, after] = first.split('\n').map(Number)
  check(before !== undefined && before > 0, `a heartbeat before, got ${first}`)
  check(before === after, 'no heartbeat after the end')
}
