/**
 * A string as the text of a column. SQLite text is UTF-8, which has no lone surrogates, and some
 * bindings end it at a NUL: such a string is kept as its JSON, and so is one that looks like a mark
 * of `keepText`. Different strings stay different.
 */
export function toSqlText(text: string): string {
  const isMarked = text.startsWith('"') || text.startsWith('~')
  const isPlain = text.isWellFormed() && !text.includes('\0') && !isMarked
  return isPlain ? text : JSON.stringify(text)
}

/** The string behind a text that `toSqlText` made. */
export function fromSqlText(text: string): string {
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}
