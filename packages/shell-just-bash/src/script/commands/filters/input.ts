import type { CommandContext, CommandResult } from '../gnu/operands.ts'

/** Text beyond this is left to just-bash, which counts what it does. */
const MAX_TEXT = 16 * 1024 * 1024

/** One input of a filter; one character is one byte. */
export interface Input {
  /** Undefined for what comes through the pipe. */
  readonly name: string | undefined
  readonly text: string
}

/** The files of a filter, or its pipe. Undefined: something is missing, just-bash says what. */
export async function readInputs(
  files: readonly string[],
  { fs, cwd, stdin }: CommandContext,
): Promise<Input[] | undefined> {
  const inputs: Input[] = []
  for (const name of files.length === 0 ? ['-'] : files) {
    if (name === '-') {
      // oxlint-disable-next-line typescript/no-base-to-string -- the type is opaque: a string of bytes
      inputs.push({ name: undefined, text: String(stdin) })
      continue
    }
    const path = fs.resolvePath(cwd, name)
    if (path.startsWith('/dev/') || !(await fs.exists(path))) return undefined
    if ((await fs.stat(path)).isDirectory) return undefined
    inputs.push({ name, text: await fs.readFile(path, 'binary') })
  }
  const total = inputs.reduce((sum, { text }) => sum + text.length, 0)
  return total > MAX_TEXT ? undefined : inputs
}

/** Lines without their ends; a text that is empty has none. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

export function bytesResult(stdout: string, exitCode = 0): CommandResult {
  return { stdout, stderr: '', exitCode, stdoutKind: 'bytes', stdoutEncoding: 'binary' }
}

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)
