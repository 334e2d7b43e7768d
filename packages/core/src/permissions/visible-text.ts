/** Not seen, or changing how others are seen: controls, directions, zero width, not assigned. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|[^\S \t\n]/gu
/** What joins the parts of one emoji. */
const IN_EMOJI =
  /(?<=\p{Extended_Pictographic}\uFE0F?)(?:\uFE0F|\u200D(?=\p{Extended_Pictographic}))/uy
const WORD = /[\p{L}\p{N}\p{M}]+/gu
const NOT_ASCII = /[^\0-\x7F]/u
const ASCII_LETTER = /[A-Za-z]/
/** Scripts with letters that are drawn like Latin ones. */
const NEAR_LATIN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\u0251\u0261\u0131\u01C0-\u01C3]/u
/** Words of letters that cannot be told from Latin ones; one letter alone is a word of its language. */
const LOOKS_LATIN = /^[аеорсухѕіјһԁԛԝѵӏАВЕЅІЈКМНОРСТУХΑΒΕΖΗΙΚΜΝΟΡΤΥΧονικρυՏՕօսոցԍԌ]{2,}$/u

/**
 * A text in which every character can be seen and told from others: hidden ones, and letters that look
 * like Latin ones in a Latin word, as `⟨U+202E⟩`. Line feeds and tabs stay.
 */
export function visibleText(text: string): string {
  return text
    .replaceAll(WORD, (word) => (NOT_ASCII.test(word) ? visibleWord(word) : word))
    .replaceAll(HIDDEN, (found, at: number) => {
      if (found === '\n' || found === '\t' || isInEmoji(text, at)) return found
      return codeOf(found)
    })
}

/** The same for commands and paths, where also whole words of look-alike letters count. */
export function visibleWords(text: string): string {
  const marked = text.replaceAll(WORD, (word) =>
    LOOKS_LATIN.test(word) ? mark(word, () => true) : word,
  )
  return visibleText(marked)
}

/** The same in one line. */
export function visibleLine(text: string): string {
  return visibleWords(text).replaceAll(/[\n\t]/g, codeOf)
}

function visibleWord(word: string): string {
  const isLatin = ASCII_LETTER.test(word)
  return mark(word, (letter) => isAsciiForm(letter) || (isLatin && NEAR_LATIN.test(letter)))
}

function mark(word: string, isMarked: (letter: string) => boolean): string {
  return Array.from(word, (letter) => (isMarked(letter) ? codeOf(letter) : letter)).join('')
}

/** Another form of an ASCII letter or digit: of full width, mathematical, in a circle. */
function isAsciiForm(letter: string): boolean {
  return NOT_ASCII.test(letter) && /^[A-Za-z0-9]+$/.test(letter.normalize('NFKC'))
}

function isInEmoji(text: string, at: number): boolean {
  IN_EMOJI.lastIndex = at
  return IN_EMOJI.test(text)
}

function codeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0
  return `⟨U+${point.toString(16).toUpperCase().padStart(4, '0')}⟩`
}
