import * as z from 'zod'

const time = z.number()
const states = ['declared', 'opening', 'open', 'evicted', 'failed', 'closing', 'closed'] as const

/** One entry of `registry.describe()` as it comes over the network; fields we do not know pass. */
const workspaceSchema = z.object({
  name: z.string(),
  providerId: z.string(),
  state: z.enum(states),
  stateSince: time,
  capabilities: z.record(z.string(), z.boolean()),
  evictions: z.number(),
  retries: z.number(),
  isolation: z.enum(['none', 'process', 'isolate', 'container']).exactOptional(),
  containment: z.enum(['namespace', 'scan']).exactOptional(),
  maxProcesses: z.number().exactOptional(),
  lastError: z.string().exactOptional(),
  lastErrorCode: z.string().exactOptional(),
  lastAttemptAt: time.exactOptional(),
  lastSuccessAt: time.exactOptional(),
  unsuccessfulSince: time.exactOptional(),
  lastOpAt: time.exactOptional(),
  openedAt: time.exactOptional(),
  lastSnapshotAt: time.exactOptional(),
  snapshotFailedAt: time.exactOptional(),
  snapshotErrorCode: z.string().exactOptional(),
  refSchemaVersion: z.number().exactOptional(),
})

/** What a health endpoint of a session answers. */
export const healthAnswerSchema = z.object({ workspaces: z.array(workspaceSchema) })
