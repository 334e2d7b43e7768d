import { createOpenLimit, type ShellEngine } from '@helix-agents/core/provider'
import { JustBashShell } from './just-bash-shell.ts'
import { type JustBashShellOptions, readSettings } from './options.ts'
import type { ScriptLimits, ScriptRunner } from './script/script.ts'

const MAX_CONCURRENT = 4

const TOOL_NOTE =
  'Commands run in just-bash, a bash in JavaScript over the files of the workspace at /workspace: the shell language, pipes, grep, sed, awk, jq, find, sort, tar and the like. There are no processes, no packages, no git and, unless said otherwise, no network; programs such as python3 or node do not run here. /tmp is kept with the workspace.'

/** An engine whose scripts run where `createRunner` says, one runner for each workspace. */
export function createEngine(
  options: JustBashShellOptions,
  limits: ScriptLimits,
  createRunner: () => ScriptRunner,
): ShellEngine {
  const settings = readSettings(options, limits)
  const gate = createOpenLimit(options.maxConcurrent ?? MAX_CONCURRENT)
  const own = [...settings.commands.keys()].join(', ')
  const toolNote = own === '' ? TOOL_NOTE : `${TOOL_NOTE} Commands of this host: ${own}.`
  return {
    name: 'just-bash',
    toolNote,
    open: (host) => new JustBashShell({ host, settings, runner: createRunner(), gate }),
  }
}
