import * as z from 'zod'
import { editFields, editFile, renderEdit } from './edit-file.ts'
import { filePath, fsTool } from './fs-tool.ts'

const MAX_EDITS = 200

const DESCRIPTION =
  'Make several replacements in one file, in order: each sees the result of those before. When one does not match, the file stays as it is. Rules of each edit are those of edit_file.'

/** Two forms of one tool: the description tells of reading first only where that is enforced. */
export const multiEditTool = createMultiEditTool(false)
export const multiEditReadTool = createMultiEditTool(true)

function createMultiEditTool(isReadRequired: boolean) {
  return fsTool({
    name: 'multi_edit',
    description: isReadRequired
      ? `${DESCRIPTION} The lines to change must have been read with read_file before.`
      : DESCRIPTION,
    inputSchema: () =>
      z.strictObject({
        path: filePath,
        edits: z.array(z.strictObject(editFields())).min(1).max(MAX_EDITS),
      }),
    annotations: { readOnly: false, destructive: true, idempotent: false },
    available: (config) => config.extended && config.requireReadBeforeWrite === isReadRequired,
    execute: async (change) => editFile(change, change.input.path, change.input.edits),
    toModelOutput: renderEdit,
  })
}
