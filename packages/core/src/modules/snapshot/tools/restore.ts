import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import type { SnapshotConfig } from '../config.ts'
import type { Snapshotter } from '../contract.ts'
import { parseSnapshotRef, snapshotRefArgument } from '../parse-snapshot-ref.ts'

export const restoreTool = toolsFor<Snapshotter, SnapshotConfig>()({
  name: 'restore',
  description:
    'Go on with the workspace as it was when a snapshot was taken. The state it has now is left behind: take a snapshot first to come back to it.',
  inputSchema: () => z.strictObject({ ref: snapshotRefArgument() }),
  annotations: { readOnly: false, destructive: true, idempotent: false },
  preview: async ({ input: { ref } }) => ({
    title: 'go back to a snapshot: what changed since is left behind',
    body: typeof ref === 'string' ? ref : JSON.stringify(ref, null, 2),
    format: 'json',
  }),
  execute: async ({ module, input, context }) => {
    const ref = parseSnapshotRef(input.ref)
    const workspace = await module.restore(ref, { signal: context.signal })
    await context.switchTo(workspace)
    return { switchedTo: workspace }
  },
  toModelOutput: () =>
    '[restored: this session now uses the workspace as it was at the snapshot. What changed after the snapshot is not in it, and background processes and code contexts are gone.]',
})
