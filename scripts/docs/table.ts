/** A Markdown table, aligned as the formatter leaves it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, column) =>
    Math.max(3, ...cells.map((row) => (row[column] ?? '').length)),
  )
  const [first = [], ...rest] = cells.map((row) =>
    row.map((cell, i) => cell.padEnd(widths[i] ?? 0)),
  )
  const rule = widths.map((width) => '-'.repeat(width))
  return [first, rule, ...rest].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** Text in code style; nothing for nothing. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}
