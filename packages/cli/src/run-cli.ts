import { Command, CommanderError } from 'commander'
import type { CliHost } from './cli-host.ts'
import { CommandError } from './command-error.ts'
import type { CommandContext } from './commands/command-context.ts'
import { registeredCommands } from './commands/registered-commands.ts'
import { exitCodes } from './exit-codes.ts'
import { Output } from './output/output.ts'
import { toPlainLines } from './output/plain-text.ts'
import { readVersion } from './version.ts'

const HELP = `
Data goes to stdout, remarks and errors to stderr. Colours are for terminals, without NO_COLOR.

Exit codes: 0 done · 1 something needs attention · 2 usage · 3 not there, no answer · 70 failure

Examples:
  helix sessions list --db data/helix.db
  helix healthz http://localhost:8787/healthz/6f1c
  helix fleet list --stuck
  helix reap --dry-run
  helix sessions show --help`

const DEFAULT_HELP_WIDTH = 100

/**
 * Runs one command line.
 * @param args Arguments behind the name of the program.
 * @returns the exit code; it never throws.
 */
export async function runCli(args: readonly string[], host: CliHost): Promise<number> {
  const output = new Output(host)
  let exitCode: number = exitCodes.ok
  const setExitCode = (code: number): void => {
    exitCode = code
  }
  try {
    await createProgram({ host, output, setExitCode }).parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    return report(error, output)
  }
}

function createProgram(context: CommandContext): Command {
  const { stdout, stderr } = context.host
  const program = new Command('helix')
    .description(
      'Looks after agents of Helix: new projects, sessions, workspaces, sandboxes, left-overs.',
    )
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(toPlainLines(text)),
      writeErr: (text) => stderr.write(toPlainLines(text)),
      getOutHelpWidth: () => stdout.columns ?? DEFAULT_HELP_WIDTH,
      getErrHelpWidth: () => stderr.columns ?? DEFAULT_HELP_WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
  for (const register of registeredCommands) register(program, context)
  return program
}

/** The exit code for what a command threw; commander has printed its own errors already. */
function report(error: unknown, output: Output): number {
  if (error instanceof CommanderError) return toExitCode(error)
  if (error instanceof CommandError) {
    output.problem(error.message)
    return error.exitCode
  }
  output.problem(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return exitCodes.failure
}

/** Help that was asked for is no mistake; help instead of a command is. */
function toExitCode({ exitCode }: CommanderError): number {
  return exitCode === 0 ? exitCodes.ok : exitCodes.usage
}
