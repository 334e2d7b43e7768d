import * as z from 'zod'
import { WorkspaceFailedError } from '../../../errors/workspace-failed-error.ts'
import { toolsFor } from '../../define-module.ts'
import type { SnapshotConfig } from '../config.ts'
import type { Snapshotter } from '../contract.ts'
import { parseSnapshotRef, snapshotRefArgument } from '../parse-snapshot-ref.ts'

export const branchTool = toolsFor<Snapshotter, SnapshotConfig>()({
  name: 'branch',
  description:
    'Make a separate workspace from a snapshot and return its ref. This session keeps the workspace it has.',
  inputSchema: () => z.strictObject({ ref: snapshotRefArgument() }),
  annotations: { readOnly: false, destructive: false, idempotent: false },
  available: (_config, offered) => offered['branch'] === true,
  preview: async ({ input: { ref } }) => ({
    title: 'make a separate workspace from a snapshot',
    body: typeof ref === 'string' ? ref : JSON.stringify(ref, null, 2),
    format: 'json',
  }),
  execute: async ({ module, input, context }) => {
    if (module.branch === undefined) {
      const detail = `workspace ${context.workspace} cannot branch`
      throw new WorkspaceFailedError('capability-missing', detail)
    }
    const ref = parseSnapshotRef(input.ref)
    return { workspace: await module.branch(ref, { signal: context.signal }) }
  },
  toModelOutput: ({ workspace }) =>
    `[branched: this session keeps its workspace] workspace: ${JSON.stringify(workspace)}`,
})
