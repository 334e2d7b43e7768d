import * as z from 'zod'
import { filePath, fromOne, fsTool, READ_ONLY } from './fs-tool.ts'

const inputSchema = () =>
  z.strictObject({
    path: filePath,
    offset: fromOne.exactOptional().describe('First line, from 1. Default 1.'),
    limit: z.int().positive().exactOptional().describe('Most lines to return. Default 2000.'),
    column: z
      .int()
      .positive()
      .exactOptional()
      .describe(
        'First character of the first line, from 1: only to go on within a very long line.',
      ),
  })

export const readFileTool = fsTool({
  name: 'read_file',
  description:
    'Read a text file. Each line comes with its number and an arrow; they are not part of the file, so never copy them into an edit. A long file comes in pages: the end of a result says which offset continues it.',
  inputSchema,
  annotations: READ_ONLY,
  paths: ({ path }) => [{ path }],
  load: async () => (await import('./calls/read-file.ts')).readFileWork,
})
