import { ToolInputError } from '@helix-agents/core'
import { type ShellCommand, utf8Length } from '@helix-agents/core/provider'

/** Linux starts no program with a longer argument. */
const MAX_WORD_BYTES = 128 * 1024 - 1

/**
 * What the container runs: an argument vector as it is, or a bash without start-up files that gets
 * the line as one argument, so that nothing in it can end or confuse anything else.
 * @throws {ToolInputError} `invalid-input`.
 */
export function toArgv(command: ShellCommand): readonly string[] {
  const argv =
    typeof command === 'string'
      ? ['bash', '--noprofile', '--norc', '-c', '--', command]
      : [...command]
  if (argv.length === 0 || argv[0] === '' || argv.some((word) => word.includes('\0'))) {
    throw new ToolInputError('invalid-input', 'the command is empty or holds a NUL')
  }
  if (argv.some((word) => utf8Length(word) > MAX_WORD_BYTES)) {
    throw new ToolInputError(
      'invalid-input',
      `the command is longer than ${MAX_WORD_BYTES} bytes`,
      {
        hint: 'Write what is long to a file, and use the file in a command.',
      },
    )
  }
  return argv
}

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Variables as the container takes them.
 * @throws {ToolInputError} `invalid-input`.
 */
export function checkEnv(env: Readonly<Record<string, string>> | undefined): void {
  for (const [name, value] of Object.entries(env ?? {})) {
    if (VARIABLE_NAME.test(name) && !value.includes('\0')) continue
    const shown = JSON.stringify(name.slice(0, 40))
    throw new ToolInputError('invalid-input', `the variable ${shown} cannot be set`, {
      hint: 'Names have letters, digits and underscores; values hold no NUL.',
    })
  }
}

/** How a command is shown in a list. */
export function titleOf(command: ShellCommand): string {
  return typeof command === 'string' ? command : command.join(' ')
}
