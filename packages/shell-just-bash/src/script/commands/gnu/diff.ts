import { type CommandContext, type CommandResult, EMPTY, wrapped } from './operands.ts'

type Original = (args: readonly string[]) => Promise<CommandResult>

/** Adds the format without options, directories (`-r`), and `-q` with them. */
export const diff = wrapped('diff', async (args, original, context) => {
  const options = args.filter((arg) => arg.startsWith('-') && arg !== '-')
  const operands = args.filter((arg) => !arg.startsWith('-') || arg === '-')
  const [one, other] = operands
  const letters = new Set(options.filter((arg) => /^-\w+$/.test(arg)).join(''))
  if (one === undefined || other === undefined) return original(args)
  if (letters.has('r') && (await isDirectory(one, context))) {
    const rest = options.map((arg) => arg.replace(/^(-\w*)r/, '$1')).filter((arg) => arg !== '-')
    return compareTrees([one, other], rest, { original, context })
  }
  return compareFiles([one, other], options, original)
})

async function compareFiles(
  files: readonly [string, string],
  options: readonly string[],
  original: Original,
): Promise<CommandResult> {
  const result = await original([...options, ...files])
  const unified = result.stdout.replace(/^=+\n/, '')
  const isPlain = !options.some((arg) => /^-\w*[uUcCqy]|^--/.test(arg))
  return { ...result, stdout: isPlain ? toNormalFormat(unified) : unified }
}

async function compareTrees(
  [one, other]: readonly [string, string],
  options: readonly string[],
  { original, context }: { readonly original: Original; readonly context: CommandContext },
): Promise<CommandResult> {
  const [ours, theirs] = await Promise.all([entriesOf(one, context), entriesOf(other, context)])
  const results: CommandResult[] = []
  for (const name of [...new Set([...ours, ...theirs])].toSorted()) {
    const pair = [`${one}/${name}`, `${other}/${name}`] as const
    if (!ours.includes(name) || !theirs.includes(name)) {
      const stdout = `Only in ${ours.includes(name) ? one : other}: ${name}\n`
      results.push({ ...EMPTY, stdout, exitCode: 1 })
    } else if (await isDirectory(pair[0], context)) {
      results.push(await compareTrees(pair, options, { original, context }))
    } else {
      const result = await compareFiles(pair, options, original)
      const isShown = result.exitCode === 1 && !options.some((arg) => /^-\w*q/.test(arg))
      const title = isShown ? `diff -r ${[...options, ...pair].join(' ')}\n` : ''
      results.push({ ...result, stdout: title + result.stdout })
    }
  }
  return {
    ...EMPTY,
    stdout: results.map(({ stdout }) => stdout).join(''),
    stderr: results.map(({ stderr }) => stderr).join(''),
    exitCode: Math.max(0, ...results.map(({ exitCode }) => exitCode)),
  }
}

/** `@@ -1 +1 @@` with its context → `1c1` and the lines that differ. */
function toNormalFormat(unified: string): string {
  const writer = new NormalFormat()
  for (const line of unified.split('\n')) writer.add(line)
  return writer.end()
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

class NormalFormat {
  readonly #shown: string[] = []
  #left = 0
  #right = 0
  #removed: string[] = []
  #added: string[] = []

  add(line: string): void {
    const hunk = HUNK.exec(line)
    if (hunk !== null) return this.#startHunk(hunk)
    if (/^(?:---|\+\+\+) |^\\/.test(line)) return
    if (line.startsWith('-')) {
      this.#removed.push(line.slice(1))
      this.#left += 1
    } else if (line.startsWith('+')) {
      this.#added.push(line.slice(1))
      this.#right += 1
    } else {
      this.#flush()
      this.#left += 1
      this.#right += 1
    }
  }

  end(): string {
    this.#flush()
    return this.#shown.map((line) => `${line}\n`).join('')
  }

  #startHunk(hunk: RegExpExecArray): void {
    this.#flush()
    this.#left = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1)
    this.#right = Number(hunk[3]) - (hunk[4] === '0' ? 0 : 1)
  }

  #flush(): void {
    const [removed, added] = [this.#removed, this.#added]
    this.#removed = []
    this.#added = []
    if (removed.length === 0 && added.length === 0) return
    const letter = letterOf(removed.length, added.length)
    const ranges = [range(this.#left, removed.length), range(this.#right, added.length)]
    this.#shown.push(
      ranges.join(letter),
      ...removed.map((line) => `< ${line}`),
      ...(letter === 'c' ? ['---'] : []),
      ...added.map((line) => `> ${line}`),
    )
  }
}

function range(end: number, count: number): string {
  return count > 1 ? `${end - count + 1},${end}` : `${end}`
}

function letterOf(removed: number, added: number): 'a' | 'c' | 'd' {
  if (removed === 0) return 'a'
  return added === 0 ? 'd' : 'c'
}

async function isDirectory(path: string, { fs, cwd }: CommandContext): Promise<boolean> {
  const at = fs.resolvePath(cwd, path)
  return (await fs.exists(at)) && (await fs.stat(at)).isDirectory
}

async function entriesOf(path: string, { fs, cwd }: CommandContext): Promise<string[]> {
  return fs.readdir(fs.resolvePath(cwd, path))
}
