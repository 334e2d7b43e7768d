import type { ShellEngine } from '@helix-agents/core/provider'
import { createEngine } from '../engine.ts'
import { type JustBashShellOptions, THREAD_LIMITS } from '../options.ts'
import { ThreadRunner } from './thread-runner.ts'

export type { JustBashShellOptions, ShellCommandDefinition } from '../options.ts'
export type { HostCommandCall, HostCommandResult, ScriptLimits } from '../script/script.ts'

/**
 * A shell over the files of a workspace: bash, pipes and text tools, without any process. Pass it to
 * a provider as `shell`.
 */
export function justBashShell(options: JustBashShellOptions = {}): ShellEngine {
  return createEngine(options, THREAD_LIMITS, () => new ThreadRunner())
}
