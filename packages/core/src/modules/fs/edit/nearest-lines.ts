import { describeDifference } from './line-difference.ts'
import { splitLinesKeepingEnds, withoutLineEnd } from '../text/line-endings.ts'
import type { WorkTurn } from './work-turn.ts'

/** How much of a large file is inspected, and how much of a long line is compared and shown. */
const MAX_LINES = 20_000
const MAX_TEXT = 2_000_000
const MAX_COMPARED = 200
const MAX_SHOWN_LINES = 8
/** Lines of a text that are compared with each of the places that come into question. */
const MAX_BLOCK = 50
const MAX_CANDIDATES = 500
/** A long line without its blanks costs some tens of microseconds. */
const CHECKS_A_LINE = 4
/** Share of pairs of letters that must be the same. */
const LEAST_LIKENESS = 0.5

/**
 * Shows the place of a text that comes nearest to what was looked for, with blanks made visible,
 * and names the first difference: most failed edits differ in indentation or line ends only. For
 * error messages; costs a pass over the first 2,000,000 characters.
 */
export async function describeNearest(
  text: string,
  wanted: string,
  turn: WorkTurn,
): Promise<string> {
  const lines = splitLinesKeepingEnds(text.slice(0, MAX_TEXT), MAX_LINES)
  const wantedLines = splitLinesKeepingEnds(wanted, MAX_BLOCK)
  const start = await findNearestPlace(lines, wantedLines, turn)
  if (start === undefined) return 'No line of the file is like it: read the file again.'
  const shown = lines.slice(start, start + Math.min(wantedLines.length, MAX_SHOWN_LINES))
  const isCut = text.length > MAX_TEXT || lines.length === MAX_LINES
  return [
    'oldText must match the file exactly. The nearest lines (· is a blank, → a tab):',
    ...showLines(shown, start),
    'What was looked for:',
    ...wantedLines.slice(0, MAX_SHOWN_LINES).map((line) => `  ${showBlanks(line)}`),
    describeDifference(
      { lines, start, isCut },
      { lines: wantedLines, name: 'oldText', isPart: true },
    ),
  ].join('\n')
}

/** Lines of a file with their numbers, blanks made visible. */
export function showLines(lines: readonly string[], start: number): string[] {
  return lines.map((line, index) => `  line ${start + index + 1}: ${showBlanks(line)}`)
}

/**
 * Index of the line where a block of lines comes nearest, so that its first line stands there; 0
 * when it would begin above the text. Undefined when no line is like its first one with text.
 */
export async function findNearestPlace(
  lines: readonly string[],
  wanted: readonly string[],
  turn: WorkTurn,
): Promise<number | undefined> {
  const anchor = wanted.findIndex((line) => line.trim() !== '')
  const key = wanted[anchor]
  if (key === undefined) return undefined
  const found =
    (await lineWithSameText(lines, wanted, anchor, turn)) ?? (await mostLikeLine(lines, key, turn))
  return found === undefined ? undefined : Math.max(0, found - anchor)
}

/** A line that differs in blanks only, with the most likeness around it, or one that holds the wanted one. */
async function lineWithSameText(
  lines: readonly string[],
  wanted: readonly string[],
  anchor: number,
  turn: WorkTurn,
): Promise<number | undefined> {
  const plain = wanted.slice(0, MAX_BLOCK).map(withoutBlanks)
  const { same, holding } = await linesWith(lines, plain[anchor] ?? '', turn)
  let best: number | undefined
  let bestCount = 0
  for (const index of same) {
    if (turn.dueAfter(plain.length * CHECKS_A_LINE)) await turn.pause()
    const around = plain.map((_text, i) => lines[index - anchor + i] ?? '\0')
    const count = around.filter((line, i) => withoutBlanks(line) === plain[i]).length
    if (count > bestCount) [best, bestCount] = [index, count]
  }
  return best ?? holding
}

async function linesWith(
  lines: readonly string[],
  key: string,
  turn: WorkTurn,
): Promise<{ readonly same: readonly number[]; readonly holding: number | undefined }> {
  const same: number[] = []
  let holding: number | undefined
  for (const [index, line] of lines.entries()) {
    if (turn.dueAfter(CHECKS_A_LINE)) await turn.pause()
    const text = withoutBlanks(line)
    if (text === key && same.length < MAX_CANDIDATES) same.push(index)
    else if (key.length > 3 && text.includes(key)) holding ??= index
  }
  return { same, holding }
}

/** The line that shares most letter pairs. */
async function mostLikeLine(
  lines: readonly string[],
  key: string,
  turn: WorkTurn,
): Promise<number | undefined> {
  const pairs = new LetterPairs(key)
  let best: number | undefined
  let top = LEAST_LIKENESS
  for (const [index, line] of lines.entries()) {
    if (turn.due) await turn.pause()
    const likeness = pairs.likenessOf(line)
    if (likeness < top || (likeness === top && best !== undefined)) continue
    best = index
    top = likeness
  }
  return best
}

function withoutBlanks(line: string): string {
  return line.slice(0, MAX_COMPARED * 10).replace(/[\s\uFEFF]+/g, '')
}

/** The pairs of letters of one line, to compare many others with. */
class LetterPairs {
  /** Each pair, and the last comparison that met it. */
  readonly #met = new Map<number, number>()
  readonly #count: number
  #turn = 0

  constructor(line: string) {
    const pairs = pairsOf(line)
    for (const pair of pairs) this.#met.set(pair, 0)
    this.#count = pairs.length
  }

  /** Twice the shared pairs by all pairs: about 1 for the same, 0 for nothing in common. */
  likenessOf(line: string): number {
    const pairs = pairsOf(line)
    this.#turn += 1
    let shared = 0
    for (const pair of pairs) {
      const met = this.#met.get(pair)
      if (met === undefined || met === this.#turn) continue
      this.#met.set(pair, this.#turn)
      shared += 1
    }
    return shared === 0 ? 0 : (2 * shared) / (this.#count + pairs.length)
  }
}

/** Each two letters that stand side by side, whatever their case, as one number. */
function pairsOf(line: string): number[] {
  const text = line
    .slice(0, MAX_COMPARED * 2)
    .trim()
    .slice(0, MAX_COMPARED)
    .toLowerCase()
  const pairs: number[] = []
  for (let i = 1; i < text.length; i += 1) {
    pairs.push(text.charCodeAt(i - 1) * 65_536 + text.charCodeAt(i))
  }
  return pairs
}

/** A line as an error message shows it: cropped, blanks made visible. */
export function showBlanks(line: string): string {
  const text = withoutLineEnd(line)
  const cropped = text.length > MAX_COMPARED ? `${text.slice(0, MAX_COMPARED)}…` : text
  return cropped.replace(/[ \t\r\u00A0\uFEFF]/g, (blank) => VISIBLE_BLANKS.get(blank) ?? blank)
}

const VISIBLE_BLANKS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    ' ': '·',
    '\t': '→',
    '\r': '␍',
    '\u00A0': '⍽',
    '\uFEFF': '‹BOM›',
  }),
)
