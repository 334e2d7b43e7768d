import * as z from 'zod'
import { filePath, fsTool, linesReadFirst, wholeText } from './fs-tool.ts'

const MAX_OLD_CHARACTERS = 1_000_000

/** Fields of one edit, also of `multi_edit`. */
export const editFields = () => ({
  oldText: wholeText()
    .max(
      MAX_OLD_CHARACTERS,
      `has more than ${MAX_OLD_CHARACTERS} characters: replace it in several edits`,
    )
    .describe('Text to replace, exactly as in the file, without line numbers.'),
  newText: wholeText().describe('Text to put in its place, taken literally. May be empty.'),
  replaceAll: z
    .boolean()
    .exactOptional()
    .describe('Replace every occurrence. Default false: it must occur exactly once.'),
})

export const editFileTool = fsTool({
  name: 'edit_file',
  description: linesReadFirst(
    'Replace text in a file. oldText must match exactly, blanks included, and occur once unless replaceAll is set. The line ends and a byte order mark of the file are kept: write plain line ends. Returns a diff. Refused when the file changed since you last read it.',
  ),
  inputSchema: () => z.strictObject({ path: filePath, ...editFields() }),
  annotations: { readOnly: false, destructive: true, idempotent: false },
  paths: ({ path }) => [{ path }],
  preview: async (change) => {
    const { previewEdits } = await import('./calls/edit-file.ts')
    return previewEdits(change, change.input.path, [change.input])
  },
  load: async () => (await import('./calls/edit-file.ts')).editFileWork,
})
