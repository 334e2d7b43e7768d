import type { ModuleDefinition } from '../define-module.ts'
import { snapshotConfigSchema } from './config.ts'
import type { Snapshotter } from './contract.ts'
import { withSnapshotPolicy } from './policy.ts'
import { branchTool } from './tools/branch.ts'
import { restoreTool } from './tools/restore.ts'
import { snapshotTool } from './tools/snapshot.ts'

export const snapshotModule: ModuleDefinition<
  'snapshot',
  Snapshotter,
  typeof snapshotConfigSchema,
  'branch'
> = {
  name: 'snapshot',
  flags: ['branch'],
  configSchema: snapshotConfigSchema,
  reads: ['snapshot', 'restore', 'branch'],
  guard: withSnapshotPolicy,
  tools: [snapshotTool, restoreTool, branchTool],
}
