/**
 * Controls, format characters (those that turn the direction of text among them), separators of
 * lines and paragraphs, halves of characters, and characters that show as nothing: all that a
 * terminal may act upon or hide. The variation selector of an emoji shows, behind one.
 */
const UNSAFE =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\uFE0F]]|(?<!\p{Extended_Pictographic})\uFE0F/gv
const SHORT: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ '\n': '\\n', '\r': '\\r', '\t': '\\t' }),
)

/** Text as a terminal may get it: on one line, with everything else made visible. */
export function toPlainText(text: string): string {
  return text.replaceAll(UNSAFE, (character) => SHORT.get(character) ?? toEscape(character))
}

/** The same for text that brings its own lines. */
export function toPlainLines(text: string): string {
  return text.split('\n').map(toPlainText).join('\n')
}

/** The same for a message of one paragraph: no further line looks like one of the program. */
export function toIndentedLines(text: string): string {
  return text.split('\n').map(toPlainText).join('\n  ')
}

/** JSON that is as harmless in a terminal, and means the same. */
export function toPlainJson(value: unknown, indent: number): string {
  const json = JSON.stringify(value, null, indent)
  // Newlines come from the indentation: those of the data are escaped already.
  return json.replaceAll(UNSAFE, (character) => (character === '\n' ? '\n' : toUnits(character)))
}

function toEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
  return `\\u{${code.toString(16)}}`
}

function toUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('')
}
