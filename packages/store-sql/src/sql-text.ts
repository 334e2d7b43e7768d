const QUOTE = 0x22
const TILDE = 0x7e

/**
 * A string as the text of a column. SQLite text is UTF-8, which has no lone surrogates, and some
 * bindings end it at a NUL: such a string is kept as its JSON, and so is one that looks like a mark
 * of `keepText`. Different strings stay different.
 */
export function toSqlText(text: string): string {
  const first = text.charCodeAt(0)
  const isMarked = first === QUOTE || first === TILDE
  const isPlain = !isMarked && text.isWellFormed() && !text.includes('\0')
  return isPlain ? text : JSON.stringify(text)
}

/** The string behind a text that `toSqlText` made. */
export function fromSqlText(text: string): string {
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}
