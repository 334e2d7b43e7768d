/** Says that a provider without modes is the source: its 644 and 755 mean nothing. */
export const NO_MODES_COMMENT = 'helix-snapshot without modes'

/** The comment as a record of a global extended header, which tar programs skip. */
export const NO_MODES_RECORD = toRecord(`comment=${NO_MODES_COMMENT}\n`)

/** A record begins with its own length, which counts the digits of that length. */
function toRecord(text: string): string {
  const rest = text.length + 1
  const digits = `${rest + `${rest}`.length}`.length
  return `${rest + digits} ${text}`
}
