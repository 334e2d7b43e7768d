import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import type { SnapshotConfig } from '../config.ts'
import type { Snapshotter } from '../contract.ts'

export const snapshotTool = toolsFor<Snapshotter, SnapshotConfig>()({
  name: 'snapshot',
  description: 'Store the state of the workspace. The ref that it returns brings it back.',
  inputSchema: () => z.strictObject({}),
  annotations: { readOnly: false, destructive: false, idempotent: false },
  preview: async () => ({ title: 'take a snapshot' }),
  execute: async ({ module, context }) => ({
    ref: await module.snapshot({ signal: context.signal }),
  }),
  toModelOutput: ({ ref }) => `[snapshot taken] ref: ${JSON.stringify(ref)}`,
})
