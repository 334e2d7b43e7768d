import { patchFailed, type PatchHunk, type PatchLine } from './patch-model.ts'
import { describeLine, type PatchReader } from './patch-reader.ts'

const NUMBERS = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/
const START_ONLY = /^@@ ?-(\d{1,9})(?!\d)/

/** Where a hunk stands: for messages. */
export interface HunkPlace {
  /** The file as the patch names it. */
  readonly file: string
  readonly number: number
  /** `@@` may name lines below which the hunk belongs. */
  readonly takesScopes: boolean
}

interface Header {
  readonly oldStart?: number
  readonly counts?: readonly [oldLines: number, newLines: number]
  readonly scopes: readonly string[]
}

/**
 * Takes a hunk with its header. The counts of the header say where it ends when they are right;
 * otherwise it ends where the next header or file begins.
 *
 * @throws {ToolInputError} `patch-failed` for a line that is none of a hunk.
 */
export function readHunk(reader: PatchReader, place: HunkPlace): PatchHunk {
  const at = reader.at + 1
  const header = readHeader(reader, place)
  const counted = header.counts && endByCounts(reader, header.counts)
  const lines = takeLines(reader, counted ?? endByShape(reader, place))
  const isAtEnd = /^\*\*\* End of File\s*$/.test(reader.next)
  if (isAtEnd) reader.take()
  const { oldStart, counts, scopes } = header
  const name = `hunk ${place.number} of ${JSON.stringify(place.file)} (line ${at} of the patch)`
  if (lines.length === 0) throw patchFailed(`${name} has no lines`)
  if (!lines.some((line) => line.sign !== ' ')) {
    throw patchFailed(
      `${name} changes nothing: none of its lines begins with + or -`,
      'Begin lines that are added with +, lines that are removed with -, and all others with a blank.',
    )
  }
  return {
    number: place.number,
    at,
    ...(oldStart !== undefined && { oldStart }),
    isInsertion: counts?.[0] === 0,
    isRecounted: counts !== undefined && counted === undefined,
    scopes,
    isAtEnd,
    lines,
  }
}

function readHeader(reader: PatchReader, place: HunkPlace): Header {
  const scopes: string[] = []
  while (reader.next.startsWith('@@')) {
    const header = readHeaderLine(reader)
    if (typeof header !== 'string') return { ...header, scopes }
    // Only lines of scopes may follow each other; two empty hunks may not.
    if (!place.takesScopes || header === '') break
    scopes.push(header)
  }
  return { scopes }
}

/** The numbers of a header, or the text that it has instead. */
function readHeaderLine(reader: PatchReader): Omit<Header, 'scopes'> | string {
  if (reader.next.startsWith('@@@')) {
    throw patchFailed(
      `${reader.describeNext()} is of a combined diff, which cannot be applied`,
      'Send a plain unified diff against the files as they are now.',
    )
  }
  const line = reader.take()
  const numbers = NUMBERS.exec(line)
  const start = (numbers ?? START_ONLY.exec(line))?.[1]
  if (start !== undefined) return { oldStart: Number(start), ...countsOf(numbers) }
  return line
    .slice(2)
    .replace(/@@\s*$/, '')
    .trim()
}

function countsOf(numbers: RegExpExecArray | null): Pick<Header, 'counts'> {
  if (numbers === null) return {}
  return { counts: [Number(numbers[2] ?? 1), Number(numbers[4] ?? 1)] }
}

/** Index behind the lines that the header counts; undefined when they are not all there, or more. */
function endByCounts(
  reader: PatchReader,
  [oldCount, newCount]: readonly [number, number],
): number | undefined {
  let oldLeft = oldCount
  let newLeft = newCount
  let index = reader.at
  for (; oldLeft > 0 || newLeft > 0; index += 1) {
    const steps = isBoundary(reader, index, true)
      ? undefined
      : STEPS.get(reader.lineAt(index)[0] ?? ' ')
    if (steps === undefined) return undefined
    oldLeft -= steps[0]
    newLeft -= steps[1]
  }
  const end = reader.lineAt(index).startsWith('\\') ? index + 1 : index
  const isWhole = oldLeft === 0 && newLeft === 0 && isBoundary(reader, reader.nextText(end))
  return isWhole ? end : undefined
}

/** How many lines of the old and the new file a line with a sign stands for. */
const STEPS: ReadonlyMap<string, readonly [number, number]> = new Map(
  Object.entries<readonly [number, number]>({
    ' ': [1, 1],
    '-': [1, 0],
    '+': [0, 1],
    '\\': [0, 0],
  }),
)

/** Index behind the last line that can be one of this hunk. */
function endByShape(reader: PatchReader, place: HunkPlace): number {
  let index = reader.at
  let end = index
  for (; !isBoundary(reader, index); index += 1) {
    const line = reader.lineAt(index)
    if (line !== '' && !' +-\\\r'.includes(line[0] ?? '')) throw strayLine(line, index, place)
    // Empty lines behind the last one may be those between two files.
    if (line !== '' && line !== '\r') end = index + 1
  }
  return end
}

function strayLine(line: string, index: number, place: HunkPlace): Error {
  return patchFailed(
    `${describeLine(index, line)} is no line of hunk ${place.number} of ${JSON.stringify(place.file)}`,
    'Each line of a hunk begins with a blank (context), + (added) or - (removed), then the line as the file has it, with its own indentation.',
  )
}

/**
 * Whether a hunk ends in front of this line.
 * @param isCounted The header counts this line to the hunk.
 */
function isBoundary(reader: PatchReader, index: number, isCounted = false): boolean {
  if (!reader.has(index)) return true
  const line = reader.lineAt(index)
  if (/^(?:@@|diff |Index: |\*\*\* |={20,}\s*$)/.test(line)) return true
  if (isFence(reader, index) || isSignature(reader, index)) return true
  return isFileHeader(reader, index, isCounted)
}

/**
 * `--- x` may also remove a line `-- x`: only with what follows it is a header. Against the counts
 * of a hunk it is one only when both names are of one file.
 */
function isFileHeader(reader: PatchReader, index: number, isCounted: boolean): boolean {
  const line = reader.lineAt(index)
  const next = reader.lineAt(index + 1)
  if (!line.startsWith('--- ') || !next.startsWith('+++ ')) return false
  if (line.startsWith('--- /dev/null') || next.startsWith('+++ /dev/null')) return true
  if (isCounted && plainName(line) !== plainName(next)) return false
  return reader.lineAt(reader.nextText(index + 2)).startsWith('@@')
}

function plainName(line: string): string {
  return line
    .slice(4)
    .replace(/^"?[abciow]\//, '')
    .trim()
}

/** The fence that ends a patch that is a Markdown block: behind it are no lines, or empty ones. */
export function isFence(reader: PatchReader, index: number): boolean {
  if (!/^\s*```\s*$/.test(reader.lineAt(index))) return false
  let after = index + 1
  // A blank is a sign: such a line is an empty one of the file.
  while (reader.has(after) && /^\r?$/.test(reader.lineAt(after))) after += 1
  return !reader.has(after)
}

/** The two lines that `git format-patch` puts at the end. */
export function isSignature(reader: PatchReader, index: number): boolean {
  if (!/^-- ?\r?$/.test(reader.lineAt(index))) return false
  return /^\d+\.\d+/.test(reader.lineAt(index + 1)) && !reader.has(reader.nextText(index + 2))
}

function takeLines(reader: PatchReader, end: number): PatchLine[] {
  const lines: PatchLine[] = []
  while (reader.at < end) {
    const raw = reader.take()
    const last = lines.at(-1)
    if (!raw.startsWith('\\')) lines.push(toLine(raw))
    else if (last === undefined || last.isOpen) {
      throw patchFailed(`${describeLine(reader.at - 1, raw)} belongs to no line of a hunk`)
    } else lines[lines.length - 1] = { ...last, isOpen: true }
  }
  return lines
}

function toLine(raw: string): PatchLine {
  const hasReturn = raw.endsWith('\r')
  const line = hasReturn ? raw.slice(0, -1) : raw
  const sign = line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' '
  return { sign, text: line.slice(1), hasReturn, isOpen: false }
}
