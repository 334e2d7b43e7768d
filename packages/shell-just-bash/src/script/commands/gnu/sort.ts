import { type CommandContext, type CommandResult, EMPTY, wrapped } from './operands.ts'

const PLAIN = /^-[runs]+$/

/**
 * Lines in the order of their bytes, as in the locale C; just-bash has that of a language. What has
 * keys or another order is left to it.
 */
export const sort = wrapped('sort', async (args, original, context) => {
  const options = args.filter((arg) => arg.startsWith('-') && arg !== '-')
  const files = args.filter((arg) => !arg.startsWith('-') || arg === '-')
  if (!options.every((arg) => PLAIN.test(arg))) return original(args)
  const letters = new Set(options.join(''))
  const lines: string[] = []
  for (const file of files.length === 0 ? ['-'] : files) {
    const text = await read(file, context)
    if (text === undefined) return missing(file)
    lines.push(...text.replace(/\n$/, '').split('\n'))
    if (text === '') lines.pop()
  }
  return { ...EMPTY, stdout: render(ordered(lines, letters)), stdoutKind: 'bytes' }
})

function ordered(lines: string[], letters: ReadonlySet<string>): string[] {
  const isNumeric = letters.has('n')
  const direction = letters.has('r') ? -1 : 1
  if (!isNumeric) lines.sort()
  else {
    const last = letters.has('s') || letters.has('u') ? () => 0 : compareBytes
    const keyed = lines.map((line) => [numberOf(line), line] as const)
    keyed.sort(([a, x], [b, y]) => a - b || last(x, y))
    lines = keyed.map(([, line]) => line)
  }
  if (direction === -1) lines.reverse()
  if (!letters.has('u')) return lines
  const keyOf = isNumeric ? numberOf : (line: string) => line
  return lines.filter((line, index) => index === 0 || keyOf(line) !== keyOf(lines[index - 1] ?? ''))
}

/** One character is one byte. */
function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function numberOf(line: string): number {
  return Number(/^\s*(-?\d*\.?\d+)/.exec(line)?.[1] ?? 0)
}

async function read(file: string, context: CommandContext): Promise<string | undefined> {
  const { fs, cwd, stdin } = context
  // oxlint-disable-next-line typescript/no-base-to-string -- the type is opaque: a string of bytes
  if (file === '-') return String(stdin)
  const path = fs.resolvePath(cwd, file)
  if (!(await fs.exists(path)) || (await fs.stat(path)).isDirectory) return undefined
  return fs.readFile(path, 'binary')
}

function missing(file: string): CommandResult {
  const stderr = `sort: cannot read: ${file}: No such file or directory\n`
  return { ...EMPTY, stderr, exitCode: 2 }
}

function render(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}
