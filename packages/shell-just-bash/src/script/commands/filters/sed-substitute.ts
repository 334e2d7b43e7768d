import type { CommandContext, CommandResult } from '../gnu/operands.ts'
import { bytesResult, type Input, isAscii, readInputs } from './input.ts'
import { type PlainPattern, plainPattern } from './plain-pattern.ts'
import { utf8Latin1 } from '../../byte-strings.ts'

/** `s/pattern/replacement/` alone. */
const SUBSTITUTE = /^s([/|,#])((?:(?!\1)[^\\\n]|\\.)+)\1((?:(?!\1)[^\\&\n])*)\1(g?)$/
const MAX_TEXT = 16 * 1024 * 1024

/** `sed 's/plain/text/g'`, the form that models use most; undefined: it is for just-bash. */
export async function sedSubstitute(
  args: readonly string[],
  context: CommandContext,
): Promise<CommandResult | undefined> {
  const isExtended = /^-[Er]$/.test(args[0] ?? '')
  const [script = '', ...files] = isExtended ? args.slice(1) : args
  const substitution = parse(script, isExtended)
  if (substitution === undefined || files.some((file) => file.startsWith('-'))) return undefined
  const inputs = await readInputs(files, context)
  return inputs && substituted(inputs, substitution)
}

function substituted(
  inputs: readonly Input[],
  substitution: Substitution,
): CommandResult | undefined {
  const text = inputs.map(withEnd).join('')
  if (!isReplaceable(text, substitution.pattern)) return undefined
  const replaced = replace(text, substitution)
  if (replaced.length > MAX_TEXT) return undefined
  const last = inputs.findLast((input) => input.text !== '')
  return bytesResult(last?.text.endsWith('\n') === false ? replaced.slice(0, -1) : replaced)
}

interface Substitution {
  readonly pattern: PlainPattern
  readonly replacement: string
  readonly isGlobal: boolean
}

function parse(script: string, isExtended: boolean): Substitution | undefined {
  const found = SUBSTITUTE.exec(script)
  if (found === null) return undefined
  const [separator = '', source = '', replacement = '', flag] = found.slice(1)
  if (separator !== '/' && source.includes(`\\${separator}`)) return undefined
  const pattern = plainPattern(source, { isFixed: false, isExtended, flags: 'g' })
  if (pattern === undefined || pattern.canBeEmpty) return undefined
  return { pattern, replacement: utf8Latin1(replacement), isGlobal: flag === 'g' }
}

function withEnd({ text }: Input): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function isReplaceable(text: string, { literal, maxLine }: PlainPattern): boolean {
  if (literal === undefined && !isAscii(text)) return false
  return maxLine === Infinity || text.split('\n').every((line) => line.length <= maxLine)
}

function replace(text: string, { pattern, replacement, isGlobal }: Substitution): string {
  const { literal, expression } = pattern
  if (literal !== undefined && isGlobal) return text.replaceAll(literal, () => replacement)
  const flags = expression.flags.replace('g', '')
  const each = isGlobal ? expression : new RegExp(expression.source, flags)
  const lines = text.split('\n')
  return lines.map((line) => line.replace(each, () => replacement)).join('\n')
}
