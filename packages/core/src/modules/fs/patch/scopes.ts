import type { FileLines, PatchedFile } from './file-lines.ts'
import { scopeMissing, tooManyScopes } from './hunk-refusal.ts'
import type { HunkSearch } from './hunk-search.ts'
import type { PatchHunk } from './patch-model.ts'

/** Indentation and comments behind a line of a scope that are inspected. */
const MAX_EXTRA = 400
/** Lines of a scope that are followed to its end. */
const MAX_BLOCK_LINES = 20_000
const MAX_BLOCKS = 50
/** Lines after `@@` of one hunk. */
const MAX_SCOPES = 20

/** The lines that a line such as `class A:` stands for, from 0, both ends included. */
export interface ScopeBlock {
  /** The line itself: it may be the first line of the hunk, too. */
  readonly first: number
  readonly last: number
}

/**
 * The blocks below the lines after `@@`, the innermost of them: a block ends where a line is
 * indented no more than its first one. A line that stands too often decides nothing but where the
 * first block begins: the hunk must then fit at one place only.
 *
 * @throws {ToolInputError} `patch-failed` when a line is not in the file, when there are too many
 * such lines, or when it would take too long.
 */
export async function findScopes(
  file: PatchedFile,
  search: HunkSearch,
  hunk: PatchHunk,
): Promise<readonly ScopeBlock[]> {
  if (hunk.scopes.length > MAX_SCOPES) throw tooManyScopes(file, hunk, MAX_SCOPES)
  let blocks: readonly ScopeBlock[] = [{ first: 0, last: file.lines.count - 1 }]
  for (const scope of hunk.scopes) {
    search.charge(file.lines.count)
    const found = await linesOfScope(file, scope, blocks)
    const [first] = found
    if (first === undefined) throw await scopeMissing(file, hunk, scope)
    blocks =
      found.length > MAX_BLOCKS
        ? [{ first, last: Math.max(...blocks.map(({ last }) => last)) }]
        : await blocksAt(file, search, found)
  }
  return blocks
}

/**
 * The first lines within blocks that are this text, blanks around it aside; where there are none,
 * those that begin with it. At most one more than are inspected.
 */
async function linesOfScope(
  file: PatchedFile,
  scope: string,
  blocks: readonly ScopeBlock[],
): Promise<readonly number[]> {
  const { turn } = file
  const same: number[] = []
  const longer: number[] = []
  const start = Math.min(...blocks.map(({ first }) => first))
  const end = Math.max(...blocks.map(({ last }) => last))
  for (let i = start; i <= end && same.length <= MAX_BLOCKS; i += 1) {
    if (i % 256 === 0 && turn.due) await turn.pause()
    const text = textOfScope(file, scope, i)
    if (text === undefined || !isWithin(blocks, i)) continue
    if (text === scope) same.push(i)
    else if (longer.length <= MAX_BLOCKS) longer.push(i)
  }
  return same.length > 0 ? same : longer
}

/** The text of a line that begins with another; undefined when it does not. */
function textOfScope({ lines }: PatchedFile, scope: string, index: number): string | undefined {
  const length = lines.lengthOf(index)
  if (length < scope.length || length > scope.length + MAX_EXTRA) return undefined
  const text = lines.contentOf(index).trim()
  return text.startsWith(scope) ? text : undefined
}

/** Whether a line, from 0, is in one of the blocks. */
export function isWithin(blocks: readonly ScopeBlock[], line: number): boolean {
  return blocks.some(({ first, last }) => first <= line && line <= last)
}

async function blocksAt(
  file: PatchedFile,
  search: HunkSearch,
  found: readonly number[],
): Promise<readonly ScopeBlock[]> {
  const blocks: ScopeBlock[] = []
  for (const line of found) {
    const block = await blockAt(file, line)
    search.charge(block.last - block.first)
    blocks.push(block)
  }
  return blocks
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
