import * as z from 'zod'
import { cropMatch, fitMatches, renderMatches } from '../search/grep-text.ts'
import type { GrepMatch, GrepOptions } from '../contract.ts'
import { resultLimits } from '../result-limits.ts'
import { workspaceDirectory } from '../path/workspace-path.ts'
import { firstEntry, fsTool, READ_ONLY } from './fs-tool.ts'

const MAX_CONTEXT_LINES = 20
const MAX_RESULTS = 10_000

const optionsSchema = () =>
  z.strictObject({
    path: z.string().exactOptional().describe('File or directory to search. Default: the root.'),
    mode: z.enum(['regex', 'literal']).exactOptional().describe('Default regex.'),
    ignoreCase: z.boolean().exactOptional(),
    includeGlob: z
      .string()
      .exactOptional()
      .describe('Only files that match: *.ts by name, src/**/*.ts by path below the searched one.'),
    context: z
      .int()
      .min(0)
      .max(MAX_CONTEXT_LINES)
      .exactOptional()
      .describe('Lines to show before and after each match. Default 0.'),
    maxResults: z
      .int()
      .min(0)
      .max(MAX_RESULTS)
      .exactOptional()
      .describe('Most matching lines to return. Default 200. 0 only tells whether there is one.'),
    maxGrepFileSizeMb: z
      .number()
      .positive()
      .exactOptional()
      .describe(
        'Larger files are skipped. Never more than the workspace allows, which is the default.',
      ),
    offset: firstEntry,
  })

/** For a pattern over several lines. */
const BY_LINE =
  'the pattern holds a line end, and each line is tested alone, without its end: search for one of the lines, with opts.context for those around it'

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

export const grepTool = fsTool({
  name: 'grep',
  description:
    'Search the lines of text files. The pattern is a regular expression in RE2 syntax (no look-around, no back-references), or literal text with opts.mode literal; it is tested against single lines. Results are grouped by file, with line numbers. Says when files were skipped or more lines match.',
  inputSchema: () => z.strictObject({ pattern: z.string(), opts: optionsSchema().exactOptional() }),
  annotations: READ_ONLY,
  paths: ({ opts: { path = '/' } = {} }) => [{ path: path === '' ? '/' : path, isTree: true }],
  execute: async ({ module, input, context }): Promise<GrepOutput> => {
    const { offset = 1, maxResults = resultLimits.grepMatches, ...rest } = input.opts ?? {}
    const path = await workspaceDirectory(rest.path, context)
    const before = offset - 1
    const options: GrepOptions = { ...rest, path, signal: context.signal }
    const result = await module.grep(input.pattern, { ...options, maxResults: before + maxResults })
    const wanted = result.matches.slice(before).map(cropMatch)
    const { countIsComplete, skippedPaths, skippedBinaryPaths } = result
    const skipped = skippedPaths.length + skippedBinaryPaths.length
    const isFull = result.matches.length >= before + maxResults
    return {
      matches: wanted.slice(0, fitMatches(wanted, resultLimits.characters)),
      offset,
      found: result.matches.length,
      hasMore: !countIsComplete && (isFull || skipped === 0),
      skippedPaths,
      skippedBinaryPaths,
      countIsComplete,
      spansLines: holdsLineEnd(input.pattern, rest.mode),
    }
  },
  toModelOutput: renderGrep,
})

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
