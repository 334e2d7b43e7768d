import type { Command } from 'just-bash'

export type CommandContext = Parameters<Command['execute']>[1]
export type CommandResult = Awaited<ReturnType<Command['execute']>>

export const EMPTY: CommandResult = { stdout: '', stderr: '', exitCode: 0 }

/** A built-in command, with its arguments or its result changed. */
export function wrapped(
  name: string,
  execute: (
    args: readonly string[],
    original: (args: readonly string[]) => Promise<CommandResult>,
    context: CommandContext,
  ) => Promise<CommandResult>,
): Command {
  return {
    name,
    execute: (args, context) => {
      const { origCommand } = context
      if (origCommand === undefined) throw new Error(`no command ${name}`)
      return execute(args, (changed) => origCommand([...changed]), context)
    },
  }
}

/** `-n1` → `-n`, `1` for options that take a value; `-sd+` → `-s`, `-d`, `+`. */
export function splitOptions(args: readonly string[], withValue: string): string[] {
  const split: string[] = []
  for (const [index, arg] of args.entries()) {
    if (arg === '--' || !arg.startsWith('-')) return [...split, ...args.slice(index)]
    split.push(...splitOption(arg, withValue))
    // The value of an option is no option, whatever it looks like.
    const last = split.at(-1) ?? ''
    if (/^-\w$/.test(last) && withValue.includes(last.slice(1))) {
      const rest = args.slice(index + 1)
      return [...split, ...rest.slice(0, 1), ...splitOptions(rest.slice(1), withValue)]
    }
  }
  return split
}

function splitOption(arg: string, withValue: string): string[] {
  if (arg.startsWith('--') || arg.length <= 2) return [arg]
  const letters = Array.from(arg)
  const at = letters.findIndex((letter, index) => index > 0 && withValue.includes(letter))
  if (at === -1) return [arg]
  const value = arg.slice(at + 1)
  const flags = at > 1 ? [arg.slice(0, at)] : []
  return [...flags, `-${arg[at]}`, ...(value === '' ? [] : [value])]
}
