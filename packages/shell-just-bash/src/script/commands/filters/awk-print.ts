import { type CommandContext, type CommandResult, splitOptions } from '../gnu/operands.ts'
import { bytesResult, linesOf, readInputs } from './input.ts'

const PRINT = /^\s*\{\s*print\s+(\$(?:\d{1,4}|NF)(?:\s*,\s*\$(?:\d{1,4}|NF))*)\s*;?\s*\}\s*$/
/** A separator that stands for itself. */
const SEPARATOR = /^[,:;|/=\t]$|^\\t$/

interface Print {
  /** Numbers, or `NF`. */
  readonly fields: readonly string[]
  readonly separator: string | undefined
  readonly files: readonly string[]
}

/** `awk '{print $2, $NF}'`, the form that models use most; undefined: it is for just-bash. */
export async function awkPrint(
  args: readonly string[],
  context: CommandContext,
): Promise<CommandResult | undefined> {
  const print = parse(splitOptions(args, 'F'))
  const inputs = print && (await readInputs(print.files, context))
  if (print === undefined || inputs === undefined) return undefined
  if (inputs.some(({ text }) => text.includes('\0'))) return undefined
  const lines = inputs.flatMap(({ text }) => linesOf(text))
  return bytesResult(lines.map((line) => printed(line, print)).join(''))
}

function parse(args: readonly string[]): Print | undefined {
  const given = args[0] === '-F' ? args[1] : undefined
  const [program = '', ...files] = args.slice(given === undefined ? 0 : 2)
  const found = PRINT.exec(program)
  if (found === null || files.some((file) => /^-.|=/.test(file))) return undefined
  if (given !== undefined && !SEPARATOR.test(given)) return undefined
  const fields = (found[1] ?? '').split(',').map((field) => field.trim().slice(1))
  return { fields, separator: given === String.raw`\t` ? '\t' : given, files }
}

function printed(line: string, { fields: wanted, separator }: Print): string {
  const fields = separator === undefined ? blankSeparated(line) : separated(line, separator)
  const shown = wanted.map((field) => {
    if (field === 'NF') return fields.at(-1) ?? line
    return Number(field) === 0 ? line : (fields[Number(field) - 1] ?? '')
  })
  return `${shown.join(' ')}\n`
}

function separated(line: string, separator: string): string[] {
  return line === '' ? [] : line.split(separator)
}

function blankSeparated(line: string): string[] {
  return line.match(/[^ \t]+/g) ?? []
}
