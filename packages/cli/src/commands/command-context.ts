import type { Command } from 'commander'
import type { CliHost } from '../cli-host.ts'
import type { Output } from '../output/output.ts'

/** What a command works with. */
export interface CommandContext {
  readonly host: CliHost
  readonly output: Output
  /** The code to end with; without a call it is `ok`. */
  readonly setExitCode: (code: number) => void
}

/** Adds one command, with all that is below it, to its parent. */
export type RegisterCommand = (parent: Command, context: CommandContext) => void

/** Text of `--json`, the same for all commands. */
export const JSON_OPTION = ['--json', 'print JSON instead of tables'] as const
