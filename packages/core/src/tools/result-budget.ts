/** Characters of text in one tool result. About 8,000 tokens. */
export const MAX_RESULT_CHARACTERS = 30_000

/** Last resort for a tool that does not cut its own result. */
export const MAX_MODEL_TEXT_CHARACTERS = 200_000

/** Of a text that is cut in the middle, the share that its beginning keeps. */
const HEAD_SHARE = 0.1
/** A cut moves to a line end that is at most so far away. */
const LINE_SEARCH_CHARACTERS = 400

/** Code points beyond it are pairs of surrogates. */
const LAST_OF_ONE_UNIT = 0xff_ff

/** What is left of a text that was cut in the middle. */
export interface CutText {
  readonly head: string
  /** Empty when nothing was cut. */
  readonly tail: string
  /** Characters between head and tail that are not shown. */
  readonly omittedCharacters: number
}

/**
 * Keeps the first tenth and the last nine tenths of what the budget allows: the start says what
 * it is, the end says how it went. Cuts at line ends where they are near, never inside a
 * character.
 */
export function cutMiddle(text: string, maxCharacters = MAX_RESULT_CHARACTERS): CutText {
  if (text.length <= maxCharacters) return { head: text, tail: '', omittedCharacters: 0 }
  const head = cutEnd(text, Math.floor(maxCharacters * HEAD_SHARE))
  const tail = cutStart(text, maxCharacters - head.length)
  return { head, tail, omittedCharacters: text.length - head.length - tail.length }
}

/** The beginning of a text, up to a line end when one is near. */
export function cutEnd(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  const lineEnd = text.lastIndexOf('\n', maxCharacters - 1) + 1
  if (lineEnd > 0 && maxCharacters - lineEnd < reachOf(maxCharacters)) return text.slice(0, lineEnd)
  return text.slice(0, isPairAt(text, maxCharacters) ? maxCharacters - 1 : maxCharacters)
}

/** The end of a text, from a line start when one is near. */
export function cutStart(text: string, maxCharacters: number): string {
  const start = text.length - maxCharacters
  if (start <= 0) return text
  const lineStart = text.indexOf('\n', start - 1) + 1
  if (lineStart > 0 && lineStart - start < reachOf(maxCharacters)) return text.slice(lineStart)
  return text.slice(isPairAt(text, start) ? start + 1 : start)
}

/** What stands where the middle was. */
export function omissionNotice(omittedCharacters: number): string {
  return `[… ${omittedCharacters} characters left out …]`
}

/** Cuts what no tool cut, and says so. */
export function limitText(text: string, maxCharacters = MAX_MODEL_TEXT_CHARACTERS): string {
  if (text.length <= maxCharacters) return text
  const { head, tail, omittedCharacters } = cutMiddle(text, maxCharacters)
  return `${head}\n${omissionNotice(omittedCharacters)}\n${tail}`
}

/** A cut gives at most a quarter of its budget for ending at a line end. */
function reachOf(maxCharacters: number): number {
  return Math.min(LINE_SEARCH_CHARACTERS, maxCharacters / 4)
}

/** Whether a cut at this index would split a surrogate pair. */
function isPairAt(text: string, index: number): boolean {
  return (text.codePointAt(index - 1) ?? 0) > LAST_OF_ONE_UNIT
}
