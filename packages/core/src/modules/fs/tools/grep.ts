import * as z from 'zod'
import { cropMatch, fitMatches, renderMatches } from '../grep-text.ts'
import type { GrepMatch, GrepOptions } from '../contract.ts'
import { resultLimits } from '../result-limits.ts'
import { workspaceDirectory } from '../workspace-path.ts'
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
}

export const grepTool = fsTool({
  name: 'grep',
  description:
    'Search the lines of text files. The pattern is a regular expression in RE2 syntax (no look-around, no back-references), or literal text with opts.mode literal; it is tested against single lines. Results are grouped by file, with line numbers. Says when files were skipped or more lines match.',
  inputSchema: () => z.strictObject({ pattern: z.string(), opts: optionsSchema().exactOptional() }),
  annotations: READ_ONLY,
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
    }
  },
  toModelOutput: renderGrep,
})

function renderGrep(output: GrepOutput): string {
  const { matches, offset, found } = output
  const files = new Set(matches.map((match) => match.path)).size
  const count = `${output.hasMore ? 'more than ' : ''}${found} ${found === 1 ? 'line' : 'lines'}`
  const shown =
    matches.length === 0 ? '' : ` match, these in ${files} ${files === 1 ? 'file' : 'files'}`
  const head = found === 0 && !output.hasMore ? 'no line matches' : `${count}${shown || ' match'}`
  const next = offset + matches.length
  const isCut = output.hasMore || next <= found
  const rest = isCut ? [`[more matches: opts.offset: ${next}, or a narrower opts.path]`] : []
  return [
    head,
    ...renderMatches(matches),
    ...rest,
    ...renderSkipped('too large to search', output.skippedPaths),
    ...renderSkipped('binary', output.skippedBinaryPaths),
  ].join('\n')
}

function renderSkipped(reason: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return []
  const named = paths.slice(0, resultLimits.skippedPaths).join(', ')
  const rest = paths.length > resultLimits.skippedPaths ? ', …' : ''
  return [`[${paths.length} files not searched, ${reason}: ${named}${rest}]`]
}
