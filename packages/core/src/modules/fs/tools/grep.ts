import * as z from 'zod'
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

export const grepTool = fsTool({
  name: 'grep',
  description:
    'Search the lines of text files. The pattern is a regular expression in RE2 syntax (no look-around, no back-references), or literal text with opts.mode literal; it is tested against single lines. Results are grouped by file, with line numbers. Says when files were skipped or more lines match.',
  inputSchema: () => z.strictObject({ pattern: z.string(), opts: optionsSchema().exactOptional() }),
  annotations: READ_ONLY,
  paths: ({ opts: { path = '/' } = {} }) => [{ path: path === '' ? '/' : path, isTree: true }],
  load: async () => (await import('./calls/grep.ts')).grepWork,
})
