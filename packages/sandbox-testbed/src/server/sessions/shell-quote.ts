/** The text as one word of a shell command. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Lines that export variables; names that are not identifiers are left out. */
export function exportLines(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isIdentifier(name) ? [`export ${name}=${shellQuote(value)}`] : [],
  )
}

/** Whether bash takes the name for a variable. */
export function isIdentifier(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name)
}
