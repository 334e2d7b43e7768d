import { type CommandContext, type CommandResult, EMPTY, wrapped } from './operands.ts'

/** Several operands: files first, without blank lines between them, then directories by name. */
export const ls = wrapped('ls', async (args, original, context) => {
  const options = args.filter((arg) => arg.startsWith('-') && arg !== '--')
  const operands = args.filter((arg) => !arg.startsWith('-')).toSorted()
  const sortsOtherwise = options.some((arg) => /^-[a-zA-Z]*[tSUrXvR]/.test(arg))
  if (operands.length < 2 || sortsOtherwise) return original(args)
  const asFiles = options.some((arg) => /^-[a-z]*d/i.test(arg))
  const files: string[] = []
  const directories: string[] = []
  for (const operand of operands) {
    const isListed = !asFiles && (await isDirectory(operand, context))
    ;(isListed ? directories : files).push(operand)
  }
  const listed = await each(files, (file) => original([...options, '--', file]))
  const entered = await each(directories, async (directory) => {
    const result = await original([...options, '--', directory])
    return { ...result, stdout: `${directory}:\n${result.stdout}` }
  })
  const blocks = [...(listed.length > 0 ? [joined(listed, '')] : []), ...entered]
  return joined(blocks, '\n')
})

async function isDirectory(path: string, { fs, cwd }: CommandContext): Promise<boolean> {
  const at = fs.resolvePath(cwd, path)
  return (await fs.exists(at)) && (await fs.stat(at)).isDirectory
}

async function each(
  names: readonly string[],
  list: (name: string) => Promise<CommandResult>,
): Promise<CommandResult[]> {
  const results: CommandResult[] = []
  for (const name of names) results.push(await list(name))
  return results
}

function joined(results: readonly CommandResult[], between: string): CommandResult {
  const shown = results.map(({ stdout }) => stdout).filter((text) => text !== '')
  return {
    ...EMPTY,
    stdout: shown.join(between),
    stderr: results.map(({ stderr }) => stderr).join(''),
    exitCode: Math.max(...results.map(({ exitCode }) => exitCode)),
  }
}
