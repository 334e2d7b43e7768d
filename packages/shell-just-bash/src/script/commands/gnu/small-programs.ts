import type { Command } from 'just-bash'
import { type CommandContext, type CommandResult, EMPTY } from './operands.ts'

/** Nothing reads a pipe while it is written here: an endless output would never be read. */
const YES_LINES = 10_000

function program(
  name: string,
  execute: (args: readonly string[], context: CommandContext) => Promise<CommandResult>,
): Command {
  return { name, execute }
}

const failed = (stderr: string, exitCode = 1): CommandResult => ({ stdout: '', stderr, exitCode })

/** Programs that just-bash does not have. */
export const smallPrograms: readonly Command[] = [
  program('yes', async (args) => ({
    ...EMPTY,
    stdout: `${args.length === 0 ? 'y' : args.join(' ')}\n`.repeat(YES_LINES),
  })),
  program('realpath', async (args, { fs, cwd }) => {
    const paths = args.filter((arg) => !arg.startsWith('-')).map((arg) => fs.resolvePath(cwd, arg))
    for (const path of paths) {
      const parent = fs.resolvePath(path, '..')
      if (!(await fs.exists(parent)))
        return failed(`realpath: ${path}: No such file or directory\n`)
    }
    return { ...EMPTY, stdout: paths.map((path) => `${path}\n`).join('') }
  }),
  program('mktemp', async (args, { fs }) => {
    const path = `/tmp/tmp.${crypto.randomUUID().replaceAll('-', '').slice(0, 10)}`
    if (args.includes('-d')) await fs.mkdir(path, { recursive: true })
    else await fs.writeFile(path, '')
    return { ...EMPTY, stdout: `${path}\n` }
  }),
  program('cmp', async (args, { fs, cwd }) => {
    const isQuiet = args.some((arg) => arg === '-s' || arg === '--quiet' || arg === '--silent')
    const [one, other, more] = args.filter((arg) => !arg.startsWith('-'))
    if (one === undefined || other === undefined || more !== undefined) {
      return failed('cmp: compares two files\n', 2)
    }
    for (const path of [one, other]) {
      if (!(await fs.exists(fs.resolvePath(cwd, path)))) {
        return failed(`cmp: ${path}: No such file or directory\n`, 2)
      }
    }
    const [a, b] = await Promise.all(
      [one, other].map((path) => fs.readFileBuffer(fs.resolvePath(cwd, path))),
    )
    const difference = describeDifference(a ?? new Uint8Array(), b ?? new Uint8Array())
    if (difference === undefined) return EMPTY
    return { stdout: isQuiet ? '' : `${one} ${other} ${difference}\n`, stderr: '', exitCode: 1 }
  }),
]

function describeDifference(a: Uint8Array, b: Uint8Array): string | undefined {
  const length = Math.min(a.length, b.length)
  let line = 1
  for (let at = 0; at < length; at += 1) {
    if (a[at] !== b[at]) return `differ: byte ${at + 1}, line ${line}`
    if (a[at] === 10) line += 1
  }
  return a.length === b.length ? undefined : `differ: byte ${length + 1}, line ${line}`
}
