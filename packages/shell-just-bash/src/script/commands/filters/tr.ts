import { bytesOfLatin1, latin1Of } from '../../byte-strings.ts'
import { wrapped } from '../gnu/operands.ts'
import { bytesResult, readInputs } from './input.ts'

const DELETED = -1
const CASES = new Set(['[:lower:] [:upper:]', '[:upper:] [:lower:]'])
const CODES = Array.from({ length: 256 }, (_, code) => code)

/** `tr` of bytes, as GNU's: sets of characters, ranges and classes; `-d`, `-s`, `-c`. */
export const trCommand = wrapped('tr', async (args, original, context) => {
  const flags = new Set(
    args
      .filter((arg) => /^-[dsc]+$/.test(arg))
      .join('')
      .replaceAll('-', ''),
  )
  const operands = args.filter((arg) => !/^-[dsc]+$/.test(arg))
  // A second set has classes only to change the case of letters.
  const isOdd = /\[:/.test(operands[1] ?? '') && !CASES.has(operands.join(' '))
  const sets = isOdd ? [] : operands.map(codesOf)
  const inputs = await readInputs([], context)
  const filter = inputs && filterOf(sets, flags)
  const text = inputs?.[0]?.text
  return filter === undefined || text === undefined ? original(args) : bytesResult(filter(text))
})

type Filter = (text: string) => string
type Codes = readonly number[] | undefined

function filterOf(sets: readonly Codes[], flags: ReadonlySet<string>): Filter | undefined {
  const [given, other] = sets
  if (given === undefined || sets.length > 2) return undefined
  const one = flags.has('c') ? CODES.filter((code) => !given.includes(code)) : given
  if (sets.length === 1) return filterOfOne(one, flags)
  if (other === undefined || other.length === 0 || flags.has('d')) return undefined
  const translate: Filter = (text) => apply(text, table(one, other))
  return flags.has('s') ? (text) => squeeze(translate(text), other) : translate
}

function filterOfOne(codes: readonly number[], flags: ReadonlySet<string>): Filter | undefined {
  if (flags.has('d') === flags.has('s')) return undefined
  return flags.has('d') ? (text) => apply(text, table(codes, [])) : (text) => squeeze(text, codes)
}

/** What each byte becomes: the last of a short set stands for all that are missing. */
function table(from: readonly number[], to: readonly number[]): Int16Array {
  const codes = Int16Array.from(CODES)
  for (const [index, code] of from.entries()) {
    codes[code] = to[Math.min(index, to.length - 1)] ?? DELETED
  }
  return codes
}

function apply(text: string, codes: Int16Array): string {
  const bytes = bytesOfLatin1(text)
  let kept = 0
  for (const byte of bytes) {
    const code = codes[byte] ?? byte
    if (code === DELETED) continue
    bytes[kept] = code
    kept += 1
  }
  return latin1Of(bytes.subarray(0, kept))
}

function squeeze(text: string, codes: readonly number[]): string {
  const isSqueezed = new Set(codes)
  const bytes = bytesOfLatin1(text)
  let kept = 0
  for (const byte of bytes) {
    if (kept > 0 && bytes[kept - 1] === byte && isSqueezed.has(byte)) continue
    bytes[kept] = byte
    kept += 1
  }
  return latin1Of(bytes.subarray(0, kept))
}

const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ['upper', /[A-Z]/],
  ['lower', /[a-z]/],
  ['digit', /\d/],
  ['alpha', /[A-Za-z]/],
  ['alnum', /[A-Za-z0-9]/],
  ['punct', /[!-/:-@[-`{-~]/],
  ['blank', /[ \t]/],
  ['space', /[ \t\n\v\f\r]/],
])
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['\\', '\\'],
])
const ATOM = String.raw`(\\[0-7]{1,3}|\\[^]|[^])`
const PARTS = new RegExp(String.raw`\[:(\w+):\]|${ATOM}-${ATOM}|${ATOM}`, 'g')

/** The bytes of a set, in its order. Undefined: it has more than is known here. */
function codesOf(set: string): Codes {
  if (/[^\0-\x7f]/.test(set) || /\[[.=]|\[.\*/.test(set)) return undefined
  const parts = Array.from(set.matchAll(PARTS), ([, name, from, to, one]) =>
    name === undefined ? rangeOf(from ?? one, to ?? one) : classOf(name),
  )
  return parts.every((codes) => codes !== undefined) ? parts.flat() : undefined
}

function classOf(name: string): Codes {
  const members = CLASSES.get(name)
  if (members === undefined) return undefined
  return CODES.filter((code) => code < 128 && members.test(String.fromCharCode(code)))
}

function rangeOf(from: string | undefined, to: string | undefined): Codes {
  const [first, last] = [codeOf(from), codeOf(to)]
  if (first === undefined || last === undefined || last < first) return undefined
  return CODES.slice(first, last + 1)
}

function codeOf(atom = ''): number | undefined {
  if (!atom.startsWith('\\') || atom.length === 1) return atom.charCodeAt(0)
  const escaped = atom.slice(1)
  if (!/^[0-7]/.test(escaped)) return ESCAPES.get(escaped)?.charCodeAt(0)
  const code = Number.parseInt(escaped, 8)
  return code < 256 ? code : undefined
}
