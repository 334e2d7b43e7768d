import type { Checkpoint } from '@helix-agents/core/runtime'
import * as z from 'zod'

/** Names the files that came for one branch, in the addresses of its requests. */
export const STAGE_PARAM = 'stage'
export const WORKSPACE_PARAM = 'workspace'
/** What a branch with files has to bring, beside what it begins with. */
export const BRANCH_FILES_HEADER = 'x-helix-branch-files'

/** Where the files of a branch are, and of which workspaces. */
export const branchPointSchema = z.strictObject({
  checkpointId: z.string(),
  workspaces: z.array(z.string()),
})

/** The files of a checkpoint that a branch begins with, for those that it was there of. */
export function branchPointOf(
  { id, workspaceRefs, workspaceSnapshots = {} }: Checkpoint,
  declared: readonly string[],
): z.output<typeof branchPointSchema> {
  const isThere = (name: string): boolean =>
    Object.hasOwn(workspaceSnapshots, name) || Object.hasOwn(workspaceRefs, name)
  return { checkpointId: id, workspaces: declared.filter(isThere) }
}
