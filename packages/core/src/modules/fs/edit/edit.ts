import { FileSystemError } from '../../../errors/file-system-error.ts'
import { ToolInputError } from '../../../errors/tool-input-error.ts'
import {
  countLineFeedsInTurns,
  type LineEnd,
  lineEndNear,
  toLineEndsInTurns,
} from '../text/line-endings.ts'
import type { LineRange } from '../text/line-ranges.ts'
import { eachPlace, replaceEachPlace } from './literal-search.ts'
import { describeNearest } from './nearest-lines.ts'
import { type Replacement, unifiedHunks } from './unified-hunk.ts'
import type { WorkTurn } from './work-turn.ts'

/** Places named when a text is ambiguous. */
const MAX_NAMED_LINES = 20
/** Places that are remembered, for a diff; all others are only counted. */
const MAX_PLACES = 1000

/** One replacement of literal text. */
export interface TextEdit {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll?: boolean
}

/** A text after an edit. */
export interface AppliedEdit {
  readonly text: string
  readonly replacements: number
  /** Lines of the new text that the edit wrote; with several places, of the first. */
  readonly lines: LineRange
  /** Lines of the old text that were replaced; with several places, from the first to the last. */
  readonly oldLines: LineRange
  /** Unified hunks, bounded. */
  readonly diff: string
  /** What was done otherwise than the edit says. */
  readonly note?: string
}

/** A text that is edited, and what the work may use. */
export interface EditedText {
  readonly path: string
  readonly text: string
  /** Characters that the new text may have. */
  readonly maxCharacters: number
  readonly turn: WorkTurn
  /** Of several edits in one call: which it is, from 1. */
  readonly number?: number
}

/**
 * Replaces literal text: nothing in `newText` has a special meaning. It must occur exactly once
 * unless `replaceAll`. Line ends of the edit become those of the file where they differ, since
 * the model never sees them; an edit that changes nothing but line ends is taken as it is.
 *
 * @throws {ToolInputError} `invalid-input` for an empty `oldText` or one equal to `newText`;
 * `no-match` with the nearest lines and the first difference; `ambiguous-match` with count and
 * line numbers.
 * @throws {FileSystemError} `too-large`, before the new text is made.
 */
export async function applyEdit(file: EditedText, edit: TextEdit): Promise<AppliedEdit> {
  if (edit.oldText === '') throw invalidEdit(file, 'oldText', 'must not be empty')
  if (edit.oldText === edit.newText) throw invalidEdit(file, 'newText', 'is the same as oldText')
  const located = await locate(file, edit)
  if (located === undefined) {
    const message = `${nameOf(file)} does not occur in ${JSON.stringify(file.path)}`
    const hint = await describeNearest(file.text, edit.oldText, file.turn)
    throw new ToolInputError('no-match', message, { hint })
  }
  const places = edit.replaceAll === true ? located.places : await withOverlap(file, located)
  if (places.count > 1 && edit.replaceAll !== true) throw await ambiguous(file, places)
  const replacement = await withLineEndsOf(file, edit, located)
  const { oldText, newText } = replacement
  if (oldText === newText) {
    throw invalidEdit(
      file,
      'newText',
      'is what the file has already, with the line ends of the file',
    )
  }
  rejectGrowth(file, places.count, replacement)
  const note = noteOf(edit, located, newText)
  const applied = await replacePlaces(file, places, replacement)
  return note === undefined ? applied : { ...applied, note }
}

function invalidEdit({ path, number }: EditedText, field: string, message: string): ToolInputError {
  const name = number === undefined ? field : `edits.${number - 1}.${field}`
  return new ToolInputError('invalid-input', `the edit of ${JSON.stringify(path)} is not valid`, {
    issues: [{ path: name, message }],
  })
}

/** What a message calls the text that was looked for. */
function nameOf({ number }: EditedText): string {
  return number === undefined ? 'oldText' : `oldText of edit ${number}`
}

/** Where a text stands. */
interface Places {
  readonly count: number
  /** The first ones, from left to right. */
  readonly first: readonly number[]
  readonly last: number
}

interface Located {
  /** As it stands in the file. */
  readonly oldText: string
  /** The text that was looked for, with bare line feeds. */
  readonly unix: string
  /** The same with CRLF. */
  readonly windows: string
  readonly places: Places
}

/** Looks for the text as it is, then with other line ends. */
async function locate(file: EditedText, { oldText }: TextEdit): Promise<Located | undefined> {
  const windows = await toLineEndsInTurns(oldText, '\r\n', file.turn)
  const unix = await toLineEndsInTurns(oldText, '\n', file.turn)
  // A line feed at the start would match the second half of a CRLF.
  const order = oldText.startsWith('\n') ? [windows, oldText] : [oldText, windows, unix]
  for (const [index, text] of order.entries()) {
    // A set would hash texts that may have millions of characters.
    if (text.length > file.text.length || order.indexOf(text) < index) continue
    const places = await findPlaces(file, text)
    if (places.count > 0) return { oldText: text, unix, windows, places }
  }
  return undefined
}

/** Places from left to right that do not overlap. */
async function findPlaces({ text, turn }: EditedText, wanted: string): Promise<Places> {
  const first: number[] = []
  let count = 0
  let last = 0
  await eachPlace(text, wanted, turn, (place) => {
    if (first.length < MAX_PLACES) first.push(place)
    count += 1
    last = place
  })
  return { count, first, last }
}

/** The line end that a text has in the file; undefined when it has no line feed. */
function lineEndOf({ oldText, unix, windows }: Located): LineEnd | undefined {
  if (unix === windows) return undefined
  return oldText === unix ? '\n' : '\r\n'
}

/** The places with one that overlaps a single first one: none of them is named. */
async function withOverlap(file: EditedText, { oldText, places }: Located): Promise<Places> {
  const [first] = places.first
  if (first === undefined || places.count > 1) return places
  const around = file.text.slice(first + 1, first + 2 * oldText.length)
  const others = await findPlaces({ ...file, text: around }, oldText)
  const [other] = others.first
  if (other === undefined) return places
  const place = first + 1 + other
  return { count: 2, first: [first, place], last: place }
}

/** The edit with the line ends that stand at its place. */
async function withLineEndsOf(
  file: EditedText,
  edit: TextEdit,
  located: Located,
): Promise<Replacement> {
  const { oldText, unix, windows, places } = located
  const { newText } = edit
  if (!newText.includes('\n')) return { oldText, newText }
  if (oldText === edit.oldText) {
    const isMixed = oldText !== unix && oldText !== windows
    if (isMixed || unix === (await toLineEndsInTurns(newText, '\n', file.turn))) {
      return { oldText, newText }
    }
  }
  const end = lineEndOf(located) ?? lineEndNear(file.text, places.first[0] ?? 0)
  if (end === undefined) return { oldText, newText }
  return { oldText, newText: await toLineEndsInTurns(newText, end, file.turn) }
}

function noteOf(edit: TextEdit, located: Located, newText: string): string | undefined {
  const hasLostReturns = edit.newText.includes('\r\n') && !newText.includes('\r\n')
  if (!hasLostReturns && !(edit.oldText.includes('\r\n') && located.oldText !== edit.oldText)) {
    return undefined
  }
  return 'The CRLF line ends of the edit were taken as LF, which the file has.'
}

/** Computes the length of the result before anything is joined. */
function rejectGrowth(file: EditedText, count: number, { oldText, newText }: Replacement): void {
  const length = file.text.length + count * (newText.length - oldText.length)
  if (length <= file.maxCharacters) return
  throw new FileSystemError('too-large', file.path, {
    detail: `it would have at least ${length} bytes; at most ${file.maxCharacters} are allowed`,
    hint: 'Write less, or in several smaller files.',
  })
}

async function replacePlaces(
  file: EditedText,
  places: Places,
  replacement: Replacement,
): Promise<AppliedEdit> {
  const { text, turn } = file
  const { oldText, newText } = replacement
  const first = places.first[0] ?? 0
  const firstLine = (await countLineFeedsInTurns(text, 0, first, turn)) + 1
  const oldEnd = places.last + oldText.length
  const oldLast = firstLine + (await countLineFeedsInTurns(text, first, oldEnd, turn))
  return {
    text: await joinReplaced(file, places, replacement),
    replacements: places.count,
    lines: [firstLine, firstLine + (await countLineFeedsInTurns(newText, 0, newText.length, turn))],
    oldLines: [firstLine, oldLast],
    diff: await unifiedHunks({ text, turn, firstLine, ...places }, replacement),
  }
}

async function joinReplaced(
  { text, turn }: EditedText,
  { count, first }: Places,
  edit: Replacement,
): Promise<string> {
  if (count > first.length) {
    const replaced = await replaceEachPlace(text, edit, turn)
    // What stores the text holds the event loop for a while, too.
    if (turn.due) await turn.pause()
    return replaced
  }
  const pieces: string[] = []
  let end = 0
  for (const place of first) {
    pieces.push(text.slice(end, place), edit.newText)
    end = place + edit.oldText.length
  }
  if (turn.due) await turn.pause()
  const replaced = [...pieces, text.slice(end)].join('')
  if (turn.due) await turn.pause()
  return replaced
}

async function ambiguous(file: EditedText, places: Places): Promise<ToolInputError> {
  const { path, text, turn } = file
  const lines: number[] = []
  let line = 1
  let from = 0
  for (const place of places.first.slice(0, MAX_NAMED_LINES)) {
    line += await countLineFeedsInTurns(text, from, place, turn)
    from = place
    lines.push(line)
  }
  const rest = places.count > lines.length ? ', …' : ''
  const where = `${places.count} times in ${JSON.stringify(path)}, at lines ${lines.join(', ')}${rest}`
  return new ToolInputError('ambiguous-match', `${nameOf(file)} occurs ${where}`, {
    hint: 'Add lines around it so that it occurs once, or set replaceAll.',
  })
}
