import * as z from 'zod'
import { fitLines } from '../text/fit-lines.ts'
import { globDirectories, isDirectoryPattern } from '../search/glob-directories.ts'
import { resultLimits } from '../result-limits.ts'
import { createWorkTurn } from '../edit/work-turn.ts'
import { workspaceDirectory } from '../path/workspace-path.ts'
import { firstEntry, fsTool, READ_ONLY } from './fs-tool.ts'

export interface GlobOutput {
  readonly pattern: string
  /** The paths from `offset` on. */
  readonly paths: readonly string[]
  /** Number of the first path, from 1. */
  readonly offset: number
  /** Paths that match. */
  readonly total: number
}

export const globTool = fsTool({
  name: 'glob',
  description:
    'Find files by path: *, ?, [a-z], [[:alpha:]] within a name, ** for any directories, {a,b} for alternatives. Returns files, sorted; a pattern that ends with / finds directories that hold files instead, such as **/test/. A long list comes in parts: the end of a result says which offset continues it.',
  inputSchema: () =>
    z.strictObject({
      pattern: z.string().describe('Such as src/**/*.ts'),
      path: z
        .string()
        .exactOptional()
        .describe('Directory that the pattern is relative to. Default: the root.'),
      offset: firstEntry,
    }),
  annotations: READ_ONLY,
  paths: ({ path = '/' }) => [{ path: path === '' ? '/' : path, isTree: true }],
  execute: async ({ module, input, context }): Promise<GlobOutput> => {
    const path = await workspaceDirectory(input.path, context)
    const { pattern } = input
    const { signal } = context
    const all = isDirectoryPattern(pattern)
      ? await globDirectories(module, pattern, { path, signal, turn: createWorkTurn(signal) })
      : await module.glob(pattern, { path, signal })
    const offset = input.offset ?? 1
    const part = all.slice(offset - 1, offset - 1 + resultLimits.entries)
    const paths = part.slice(0, fitLines(part, resultLimits.characters))
    return { pattern, paths, offset, total: all.length }
  },
  toModelOutput: ({ pattern, paths, offset, total }) => {
    const isDirectory = isDirectoryPattern(pattern)
    const [one, many] = isDirectory ? ['directory', 'directories'] : ['file', 'files']
    if (total === 0) return `no ${one}${isDirectory ? ' with files in it' : ''} matches ${pattern}`
    if (paths.length === 0) return `${total} ${many} match ${pattern}; the offset is past the end`
    const next = offset + paths.length
    const rest = next > total ? '' : `\n[${many} ${next}-${total} not shown: offset: ${next}]`
    return `${total} ${total === 1 ? one : many}\n${paths.join('\n')}${rest}`
  },
})
