import * as z from 'zod'
import { editFields } from './edit-file.ts'
import { filePath, fsTool, linesReadFirst } from './fs-tool.ts'

const MAX_EDITS = 200

export const multiEditTool = fsTool({
  name: 'multi_edit',
  description: linesReadFirst(
    'Make several replacements in one file, in order: each sees the result of those before. When one does not match, the file stays as it is. Rules of each edit are those of edit_file.',
  ),
  inputSchema: () =>
    z.strictObject({
      path: filePath,
      edits: z.array(z.strictObject(editFields())).min(1).max(MAX_EDITS),
    }),
  annotations: { readOnly: false, destructive: true, idempotent: false },
  paths: ({ path }) => [{ path }],
  available: (config) => config.extended,
  preview: async (change) => {
    const { previewEdits } = await import('./calls/edit-file.ts')
    return previewEdits(change, change.input.path, change.input.edits)
  },
  load: async () => (await import('./calls/edit-file.ts')).multiEditWork,
})
