import { SedError } from './sed-program.ts'

export interface SedArguments {
  readonly parts: readonly SedScriptPart[]
  readonly files: readonly string[]
  readonly isQuiet: boolean
  readonly isExtended: boolean
  /** Each file has line numbers and a last line of its own. */
  readonly isSeparate: boolean
  /** What ends a line. */
  readonly delimiter: string
  /** Of the copy of a file that is changed in place, empty for none. Undefined: no file is changed. */
  readonly suffix: string | undefined
}

interface SedScriptPart {
  readonly text: string
  /** Where the script is; then there is no text. */
  readonly file: string | undefined
}

const LONG: ReadonlyMap<string, string> = new Map([
  ['--quiet', '-n'],
  ['--silent', '-n'],
  ['--regexp-extended', '-E'],
  ['--separate', '-s'],
  ['--in-place', '-i'],
  ['--null-data', '-z'],
  ['--posix', '-u'],
  ['--unbuffered', '-u'],
])

/** @throws {SedError} for an option that is not known here, and without a script. */
export function readSedArguments(args: readonly string[]): SedArguments {
  const read: Read = { parts: [], operands: [], flags: new Set(), suffix: undefined }
  const queue = splitLong(args)
  for (let arg = queue.shift(); arg !== undefined; arg = queue.shift()) {
    if (arg === '--') read.operands.push(...queue.splice(0))
    else if (!arg.startsWith('-') || arg === '-') read.operands.push(arg)
    else readOption(read, arg, queue)
  }
  const { parts, operands, flags, suffix } = read
  if (parts.length === 0) {
    const first = operands.shift()
    if (first === undefined) throw new SedError('no script specified')
    parts.push({ text: first, file: undefined })
  }
  return {
    parts,
    files: operands,
    isQuiet: flags.has('n'),
    isExtended: flags.has('E') || flags.has('r'),
    isSeparate: flags.has('s') || suffix !== undefined,
    delimiter: flags.has('z') ? '\0' : '\n',
    suffix,
  }
}

interface Read {
  readonly parts: SedScriptPart[]
  readonly operands: string[]
  readonly flags: Set<string>
  suffix: string | undefined
}

function readOption(read: Read, arg: string, queue: string[]): void {
  const { letters, letter, value } = optionOf(arg)
  for (const flag of letters) read.flags.add(flag)
  if (letter === 'i') read.suffix = value
  if (letter === undefined || letter === 'i') return
  const given = value === '' ? queue.shift() : value
  if (given === undefined) throw new SedError(`option requires an argument -- '${letter}'`)
  if (letter === 'e') read.parts.push({ text: given, file: undefined })
  if (letter === 'f') read.parts.push({ text: '', file: given })
}

/** `--expression=x` → `-e`, `x`. */
function splitLong(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  const options = end === -1 ? args : args.slice(0, end)
  const split = options.flatMap((arg) => {
    const found = /^--(expression|file|in-place|line-length)=([^]*)$/.exec(arg)
    if (found !== null) return [`-${found[1]?.[0]}${found[2]}`]
    if (arg === '--expression' || arg === '--file') return [`-${arg[2]}`]
    return [LONG.get(arg) ?? arg]
  })
  return [...split, ...(end === -1 ? [] : args.slice(end))]
}

/** `-ne` → n, e; `-i.bak` → i with a value. */
function optionOf(arg: string): {
  readonly letters: string
  readonly letter: string | undefined
  readonly value: string
} {
  const found = /^-([nErsuz]*)([efil]?)([^]*)$/.exec(arg)
  const [, letters = '', letter = '', value = ''] = found ?? []
  if (letter === '' && value !== '') {
    throw new SedError(`unknown option -- '${value.replace(/^-*/, '')}'`)
  }
  return { letters, letter: letter === '' ? undefined : letter, value }
}
