import stringWidth from 'string-width'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const CUT = '…'

/** Columns that a text takes in a terminal. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

/** The start of a text, cut to so many columns; `…` says that it was. */
export function fitText(text: string, columns: number): string {
  // A character takes two columns at most, so the rest can be left out unseen.
  if (text.length <= columns && widthOf(text) <= columns) return text
  if (columns < 1) return ''
  let fitted = ''
  let width = 0
  for (const { segment } of segmenter.segment(text)) {
    width += widthOf(segment)
    if (width > columns - 1) break
    fitted += segment
  }
  return fitted.length === text.length ? text : fitted + CUT
}

export function padText(text: string, columns: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, columns - widthOf(text)))
  return align === 'left' ? text + space : space + text
}
