import * as z from 'zod'
import { planPatch } from '../patch.ts'
import { type WrittenFile, writePlan } from '../write-plan.ts'
import { fsTool } from './fs-tool.ts'

const MAX_PATCH_CHARACTERS = 1_000_000

const DESCRIPTION =
  'Apply a unified diff to one or more files: all of it or nothing. /dev/null as the old or new name makes or removes a file; the prefixes a/ and b/ are ignored. Context lines must be exactly those of the files. Refused when a file changed since you last read it.'

/** Two forms of one tool: the description tells of reading first only where that is enforced. */
export const applyPatchTool = createApplyPatchTool(false)
export const applyPatchReadTool = createApplyPatchTool(true)

function createApplyPatchTool(isReadRequired: boolean) {
  return fsTool({
    name: 'apply_patch',
    description: isReadRequired
      ? `${DESCRIPTION} The lines to change must have been read with read_file before.`
      : DESCRIPTION,
    inputSchema: () => z.strictObject({ patch: z.string().min(1).max(MAX_PATCH_CHARACTERS) }),
    annotations: { readOnly: false, destructive: true, idempotent: false },
    available: (config) => config.extended && config.requireReadBeforeWrite === isReadRequired,
    execute: async (change): Promise<{ readonly files: readonly WrittenFile[] }> => ({
      files: await writePlan(change, await planPatch(change, change.input.patch)),
    }),
    toModelOutput: ({ files }) => files.map((file) => `${file.action} ${file.path}`).join('\n'),
  })
}
