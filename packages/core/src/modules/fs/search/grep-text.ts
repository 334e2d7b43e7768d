import type { GrepMatch } from '../contract.ts'
import { resultLimits } from '../result-limits.ts'

/** Cuts the long lines of a match; a search through minified files must not flood the result. */
export function cropMatch(match: GrepMatch): GrepMatch {
  return {
    path: match.path,
    lineNumber: match.lineNumber,
    line: crop(match.line),
    ...(match.before && { before: match.before.map(crop) }),
    ...(match.after && { after: match.after.map(crop) }),
  }
}

/** Number of matches that fit into a budget of characters; at least one. */
export function fitMatches(matches: readonly GrepMatch[], maxCharacters: number): number {
  let room = maxCharacters
  for (const [index, match] of matches.entries()) {
    const isNewFile = matches[index - 1]?.path !== match.path
    const lines = [...(match.before ?? []), match.line, ...(match.after ?? [])]
    room -= lines.reduce(
      (sum, line) => sum + line.length + 8,
      isNewFile ? match.path.length + 1 : 0,
    )
    if (room < 0 && index > 0) return index
  }
  return matches.length
}

/** A path, then its lines: `12→` matches, `11-` is context. Lines are shown once. */
export function renderMatches(matches: readonly GrepMatch[]): string[] {
  const text: string[] = []
  let shown = 0
  for (const [index, match] of matches.entries()) {
    if (match.path !== matches[index - 1]?.path) {
      text.push(match.path)
      shown = 0
    }
    const next = matches[index + 1]
    const end = next?.path === match.path ? next.lineNumber : Infinity
    const block = numbered(match).filter(({ line }) => line > shown && line < end)
    if (isApart(match, shown, block)) text.push('  --')
    text.push(...block.map(({ label, content }) => `  ${label}${content}`))
    shown = block.at(-1)?.line ?? shown
  }
  return text
}

/** With context, a mark stands where lines of the file are left out. */
function isApart(match: GrepMatch, shown: number, block: readonly NumberedLine[]): boolean {
  if (match.before === undefined || shown === 0) return false
  return (block[0]?.line ?? 0) > shown + 1
}

interface NumberedLine {
  readonly line: number
  readonly label: string
  readonly content: string
}

function numbered(match: GrepMatch): NumberedLine[] {
  const { lineNumber, line, before = [], after = [] } = match
  const first = lineNumber - before.length
  return [
    ...before.map((content, i) => contextLine(first + i, content)),
    { line: lineNumber, label: `${lineNumber}→`, content: line },
    ...after.map((content, i) => contextLine(lineNumber + 1 + i, content)),
  ]
}

function contextLine(line: number, content: string): NumberedLine {
  return { line, label: `${line}-`, content }
}

function crop(line: string): string {
  if (line.length <= resultLimits.grepLineCharacters) return line
  return `${line.slice(0, resultLimits.grepLineCharacters)}…[${line.length} characters]`
}
