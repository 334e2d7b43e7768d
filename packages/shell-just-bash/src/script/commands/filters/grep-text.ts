import { type CommandContext, type CommandResult } from '../gnu/operands.ts'
import { bytesResult, type Input, isAscii, linesOf, readInputs } from './input.ts'
import { anyPlainPattern, type PlainPattern } from './plain-pattern.ts'

const FLAGS = /^-[ivnclhHqEFx]+$/

interface Search {
  readonly pattern: PlainPattern
  readonly files: readonly string[]
  readonly flags: ReadonlySet<string>
}

/** A search of files and pipes for a plain pattern; undefined: it is for just-bash. */
export async function grepText(
  args: readonly string[],
  context: CommandContext,
): Promise<CommandResult | undefined> {
  const search = parse(args)
  const inputs = search && (await readInputs(search.files, context))
  if (search === undefined || inputs === undefined) return undefined
  if (!inputs.every(({ text }) => isSearchable(text, search.pattern))) return undefined
  const showsName = search.flags.has('H') || (inputs.length > 1 && !search.flags.has('h'))
  const found = inputs.map((input) => select(input, search, showsName))
  const isFound = found.some(({ count }) => count > 0)
  const stdout = search.flags.has('q') ? '' : found.map(({ shown }) => shown).join('')
  return bytesResult(stdout, isFound ? 0 : 1)
}

function parse(args: readonly string[]): Search | undefined {
  const options = args.filter((arg) => arg.startsWith('-') && arg !== '-')
  const [source, ...files] = args.filter((arg) => !arg.startsWith('-') || arg === '-')
  if (source === undefined || !options.every((option) => FLAGS.test(option))) return undefined
  const flags = new Set(options.join('').replaceAll('-', ''))
  if (flags.has('i') && !isAscii(source)) return undefined
  const isFixed = flags.has('F')
  if (isFixed && flags.has('E')) return undefined
  const isExtended = flags.has('E')
  const pattern = anyPlainPattern(source, { isFixed, isExtended, flags: flags.has('i') ? 'i' : '' })
  return pattern === undefined ? undefined : { pattern, files, flags }
}

/** No text that grep would call binary, or in which a character may be several bytes of a pattern. */
function isSearchable(text: string, { literal, maxLine }: PlainPattern): boolean {
  if (text.includes('\0')) return false
  if (literal !== undefined) return true
  if (!isAscii(text)) return false
  return maxLine === Infinity || linesOf(text).every((line) => line.length <= maxLine)
}

function select(
  { name = '(standard input)', text }: Input,
  { pattern, flags }: Search,
  showsName: boolean,
): { readonly shown: string; readonly count: number } {
  const lines = linesOf(text)
  const isWanted = flags.has('v') ? not(matcher(pattern, flags)) : matcher(pattern, flags)
  const before = showsName ? `${name}:` : ''
  const shown: string[] = []
  let count = 0
  for (const [index, line] of lines.entries()) {
    if (!isWanted(line)) continue
    count += 1
    if (flags.has('n')) shown.push(`${before}${index + 1}:${line}\n`)
    else shown.push(`${before}${line}\n`)
  }
  if (flags.has('l')) return { shown: count > 0 ? `${name}\n` : '', count }
  if (flags.has('c')) return { shown: `${before}${count}\n`, count }
  return { shown: shown.join(''), count }
}

type Matcher = (line: string) => boolean

function matcher({ literal, expression }: PlainPattern, flags: ReadonlySet<string>): Matcher {
  const isWhole = flags.has('x')
  if (literal !== undefined) {
    return isWhole ? (line) => line === literal : (line) => line.includes(literal)
  }
  if (!isWhole) return (line) => expression.test(line)
  const whole = new RegExp(`^(?:${expression.source})$`, expression.flags)
  return (line) => whole.test(line)
}

function not(matches: Matcher): Matcher {
  return (line) => !matches(line)
}
