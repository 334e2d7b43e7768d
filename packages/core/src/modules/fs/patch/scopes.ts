import type { FileLines, PatchedFile } from './file-lines.ts'
import { scopeMissing } from './hunk-refusal.ts'
import type { PatchHunk } from './patch-model.ts'

/** Indentation and comments behind a line of a scope that are looked at. */
const MAX_EXTRA = 400
/** Lines of a scope that are followed to its end. */
const MAX_BLOCK_LINES = 20_000
const MAX_BLOCKS = 50

/** The lines that a line such as `class A:` stands for, from 0, both ends included. */
export interface ScopeBlock {
  /** The line itself: it may be the first line of the hunk, too. */
  readonly first: number
  readonly last: number
}

/**
 * The blocks below the lines after `@@`, the innermost of them: a block ends where a line is
 * indented no more than its first one.
 *
 * @throws {ToolInputError} `patch-failed` when a line is not in the file.
 */
export async function findScopes(
  file: PatchedFile,
  hunk: PatchHunk,
): Promise<readonly ScopeBlock[]> {
  let blocks: readonly ScopeBlock[] = [{ first: 0, last: file.lines.count - 1 }]
  for (const scope of hunk.scopes) {
    const found = await linesOfScope(file, scope)
    const below = found.filter((line) =>
      blocks.some(({ first, last }) => first <= line && line <= last),
    )
    if (below.length === 0) throw await scopeMissing(file, hunk, scope)
    blocks = await Promise.all(below.slice(0, MAX_BLOCKS).map((line) => blockAt(file, line)))
  }
  return blocks
}

/** Lines that are this text, blanks around it aside; where there are none, those that begin with it. */
async function linesOfScope({ lines, turn }: PatchedFile, scope: string): Promise<number[]> {
  const same: number[] = []
  const longer: number[] = []
  for (let i = 0; i < lines.count; i += 1) {
    if (i % 256 === 0 && turn.due) await turn.pause()
    const length = lines.lengthOf(i)
    if (length < scope.length || length > scope.length + MAX_EXTRA) continue
    const text = lines.contentOf(i).trim()
    if (text === scope) same.push(i)
    else if (text.startsWith(scope)) longer.push(i)
  }
  return same.length > 0 ? same : longer
}

async function blockAt({ lines, turn }: PatchedFile, first: number): Promise<ScopeBlock> {
  const outer = indentOf(lines, first)
  const end = Math.min(lines.count, first + MAX_BLOCK_LINES)
  let last = first
  for (let i = first + 1; i < end; i += 1) {
    if (i % 256 === 0 && turn.due) await turn.pause()
    const indent = indentOf(lines, i)
    if (indent === undefined) continue
    if (indent <= (outer ?? 0)) break
    last = i
  }
  return { first, last }
}

/** Blanks in front of a line; undefined when it has nothing else. */
function indentOf(lines: FileLines, index: number): number | undefined {
  const start = lines.startOf(index)
  const line = lines.text.slice(start, Math.min(start + MAX_EXTRA, start + lines.lengthOf(index)))
  const indent = line.search(/\S/)
  return indent < 0 ? undefined : indent
}
