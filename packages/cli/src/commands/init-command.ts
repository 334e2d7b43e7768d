import type { Command } from 'commander'
import type { CommandContext } from './command-context.ts'

const HELP = `
It is the same as npm create helix-agents; helix init --help has its options.

Examples:
  helix init my-agent
  helix init my-agent --template worker`

/** `helix init`: makes a project. Its arguments are those of `create-helix-agents`. */
export function registerInit(parent: Command, { host, setExitCode }: CommandContext): void {
  parent
    .command('init')
    .summary('make a project with an agent that runs at once')
    .description('Makes a project from a template, and installs it.')
    .argument('[arguments...]', 'a folder and options')
    .helpOption(false)
    .allowUnknownOption()
    .addHelpText('after', HELP)
    .action(async (_: readonly string[], __: object, command: Command) => {
      setExitCode(await host.createProject(command.args))
    })
}
