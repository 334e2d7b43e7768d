/** Characters that are not seen, or that change how others are: controls, directions, zero width. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu
const HIDDEN_BLANK = /[^\S \t\n\r]/gu

/**
 * A text in which every character can be seen: hidden ones as `⟨U+202E⟩`. Line feeds and tabs stay.
 */
export function visibleText(text: string): string {
  return text
    .replace(HIDDEN, (found) => (found === '\n' || found === '\t' ? found : codeOf(found)))
    .replace(HIDDEN_BLANK, codeOf)
}

/** The same in one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll(/[\n\t]/g, codeOf)
}

function codeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0
  return `⟨U+${point.toString(16).toUpperCase().padStart(4, '0')}⟩`
}
