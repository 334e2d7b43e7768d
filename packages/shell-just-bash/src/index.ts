import type { ShellEngine } from '@helix-agents/core/provider'
import { createEngine } from './engine.ts'
import { InIsolateRunner } from './in-isolate-runner.ts'
import { ISOLATE_LIMITS, type JustBashShellOptions } from './options.ts'

export type { JustBashShellOptions, ShellCommandDefinition } from './options.ts'
export type { HostCommandCall, HostCommandResult, ScriptLimits } from './script/script.ts'

/**
 * A shell over the files of a workspace: bash, pipes and text tools, without any process. Pass it to
 * a provider as `shell`.
 */
export function justBashShell(options: JustBashShellOptions = {}): ShellEngine {
  return createEngine(options, ISOLATE_LIMITS, () => new InIsolateRunner())
}
