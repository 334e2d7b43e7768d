import type { ModuleToolCall, ModuleToolWork } from '../../../define-module.ts'
import type { FileSystemConfig } from '../../config.ts'
import type { FileSystem, GrepMatch, GrepOptions } from '../../contract.ts'
import { workspaceDirectory } from '../../path/workspace-path.ts'
import { resultLimits } from '../../result-limits.ts'
import { cropMatch, fitMatches, renderMatches } from '../../search/grep-text.ts'

/** For a pattern over several lines. */
const BY_LINE =
  'the pattern holds a line end, and each line is tested alone, without its end: search for one of the lines, with opts.context for those around it'

/** The arguments of `grep`. */
export interface GrepInput {
  readonly pattern: string
  readonly opts?: Omit<GrepOptions, 'signal'> & { readonly offset?: number }
}

export interface GrepOutput {
  /** The matches from `offset` on; long lines are cut. */
  readonly matches: readonly GrepMatch[]
  /** Number of the first match, from 1. */
  readonly offset: number
  /** Matches found; at least so many when the count is not complete. */
  readonly found: number
  /** More matches exist than were looked for. */
  readonly hasMore: boolean
  readonly skippedPaths: readonly string[]
  readonly skippedBinaryPaths: readonly string[]
  readonly countIsComplete: boolean
  /** The pattern holds a line end, which no line has. */
  readonly spansLines: boolean
}

export const grepWork: ModuleToolWork<FileSystem, FileSystemConfig, GrepInput, GrepOutput> = {
  execute: grep,
  toModelOutput: renderGrep,
}

async function grep({
  module,
  input,
  context,
}: ModuleToolCall<FileSystem, FileSystemConfig, GrepInput>): Promise<GrepOutput> {
  const { offset = 1, maxResults = resultLimits.grepMatches, ...rest } = input.opts ?? {}
  const path = await workspaceDirectory(rest.path, context)
  const before = offset - 1
  const options: GrepOptions = { ...rest, path, signal: context.signal }
  const last = before + maxResults
  // One more tells whether there are more: an incomplete count may come of skipped files alone.
  const result = await module.grep(input.pattern, { ...options, maxResults: last + 1 })
  const wanted = result.matches.slice(before, last).map(cropMatch)
  const { countIsComplete, skippedPaths, skippedBinaryPaths } = result
  const skipped = skippedPaths.length + skippedBinaryPaths.length
  const found = result.matches.length
  return {
    matches: wanted.slice(0, fitMatches(wanted, resultLimits.characters)),
    offset,
    found: Math.min(found, last),
    hasMore: found > last || (!countIsComplete && skipped === 0),
    skippedPaths,
    skippedBinaryPaths,
    countIsComplete,
    spansLines: holdsLineEnd(input.pattern, rest.mode),
  }
}

/** Whether a pattern asks for a line end: one written out, or `\\n` of a regular expression. */
function holdsLineEnd(pattern: string, mode: GrepOptions['mode']): boolean {
  if (/[\r\n]/.test(pattern)) return true
  if (mode === 'literal') return false
  // A class that leaves line ends out asks for none.
  return /\\[nr]/.test(pattern.replace(/\\\\/g, '').replace(/\[\^[^\]]*\]/g, ''))
}

function renderHead(output: GrepOutput): string {
  const { matches, found, hasMore } = output
  if (found === 0 && !hasMore) {
    return output.spansLines ? `no line matches; ${BY_LINE}` : 'no line matches'
  }
  const files = new Set(matches.map((match) => match.path)).size
  const count = `${hasMore ? 'more than ' : ''}${found} ${found === 1 ? 'line' : 'lines'} match`
  return matches.length === 0
    ? count
    : `${count}, these in ${files} ${files === 1 ? 'file' : 'files'}`
}

function renderGrep(output: GrepOutput): string {
  const { matches, offset, found } = output
  const next = offset + matches.length
  const isCut = output.hasMore || next <= found
  const rest = isCut ? [`[more matches: opts.offset: ${next}, or a narrower opts.path]`] : []
  return [
    renderHead(output),
    ...renderMatches(matches),
    ...rest,
    ...renderSkipped(
      'too large, too deep or with lines too long to be searched whole',
      output.skippedPaths,
    ),
    ...renderSkipped('binary', output.skippedBinaryPaths),
  ].join('\n')
}

function renderSkipped(reason: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return []
  const named = paths.slice(0, resultLimits.skippedPaths).join(', ')
  const rest = paths.length > resultLimits.skippedPaths ? ', …' : ''
  return [`[${paths.length} files not searched, ${reason}: ${named}${rest}]`]
}
