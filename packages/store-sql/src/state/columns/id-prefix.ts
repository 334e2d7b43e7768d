import { toSqlText } from '../../sql-text.ts'

/** Texts from the first one, inclusive, to the second; to the last there is, when it is absent. */
export type TextRange = readonly [from: string] | readonly [from: string, below: string]

/**
 * Where stored texts of strings that begin with a prefix are, in the order of SQLite: by code point.
 * A string that is stored as it is, is in the one range, one that is stored as its JSON in the other.
 */
export function rangesOfPrefix(prefix: string): readonly TextRange[] {
  const asJson = JSON.stringify(prefix).slice(0, -1)
  const texts = toSqlText(prefix) === prefix ? [prefix, asJson] : [asJson]
  return texts.map(rangeOf)
}

const LAST_POINT = 0x10ffff
const LAST_BEFORE_SURROGATES = 0xd7ff
const FIRST_BEHIND_SURROGATES = 0xe000

/** All texts that begin with this one. Behind U+10FFFF, however often, is nothing. */
function rangeOf(text: string): TextRange {
  const points = Array.from(text, (char) => char.codePointAt(0) ?? 0)
  const at = points.findLastIndex((point) => point < LAST_POINT)
  const point = points[at]
  if (point === undefined) return [text]
  const next = point === LAST_BEFORE_SURROGATES ? FIRST_BEHIND_SURROGATES : point + 1
  return [text, String.fromCodePoint(...points.slice(0, at), next)]
}
