import * as z from 'zod'
import { cutEnd } from '../../../tools/result-budget.ts'
import { resultLimits } from '../result-limits.ts'
import type { WrittenFile } from '../edit/write-plan.ts'
import { fsTool, linesReadFirst, wholeText } from './fs-tool.ts'

const MAX_PATCH_CHARACTERS = 1_000_000

export interface ApplyPatchOutput {
  readonly files: readonly WrittenFile[]
}

export const applyPatchTool = fsTool({
  name: 'apply_patch',
  description: linesReadFirst(
    'Apply a unified diff to one or more files: all of it or nothing. /dev/null as the old or new name makes or removes a file; git headers may rename and copy; the prefixes a/ and b/ are left out. The format between *** Begin Patch and *** End Patch is taken, too. Context lines must be exactly those of the files; the line numbers of a hunk may be wrong when its lines stand at one place only. Returns the diff. Refused when a file changed since you last read it.',
  ),
  inputSchema: () =>
    z.strictObject({
      patch: wholeText()
        .min(1)
        .max(
          MAX_PATCH_CHARACTERS,
          `has more than ${MAX_PATCH_CHARACTERS} characters: send it in several calls`,
        )
        .describe('The diff alone, without any words around it.'),
    }),
  annotations: { readOnly: false, destructive: true, idempotent: false },
  paths: async ({ patch }) => (await import('../preview/patched-paths.ts')).patchedPaths(patch),
  available: (config) => config.extended,
  preview: async (change) => {
    const { planPatch } = await import('../patch/plan-patch.ts')
    const { previewPlan } = await import('../preview/preview-change.ts')
    return previewPlan(change, await planPatch(change, change.input.patch))
  },
  execute: async (change): Promise<ApplyPatchOutput> => {
    // Loaded at the first patch.
    const { planPatch } = await import('../patch/plan-patch.ts')
    const { writePlan } = await import('../edit/write-plan.ts')
    return {
      files: withinBudget(await writePlan(change, await planPatch(change, change.input.patch))),
    }
  },
  toModelOutput: ({ files }) => files.map(renderFile).join('\n'),
})

/** The diffs of a patch share one budget; of the last ones a part may be left out. */
function withinBudget(files: readonly WrittenFile[]): WrittenFile[] {
  let room = resultLimits.diffCharacters
  return files.map((file) => {
    const diff = cutEnd(file.diff, room)
    room -= diff.length
    const isCut = diff.length < file.diff.length
    return { ...file, diff: isCut ? `${diff}[the rest of the diff is left out]` : file.diff }
  })
}

function renderFile({ action, path, from, version, notes, diff }: WrittenFile): string {
  const source = from === undefined ? '' : `${from} to `
  const head = `${action} ${source}${path}${version === undefined ? '' : `, version ${version}`}`
  return [head, ...notes.map((note) => `Note: ${note}.`), diff].join('\n')
}
