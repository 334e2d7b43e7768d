import type { JsonValue } from '@helix-agents/core'
import type { SnapshotRef, WorkspaceRef } from '@helix-agents/core/provider'
import type {
  FileVersionsSnapshot,
  SessionLabels,
  SessionStatus,
  RunUsage,
  StoredError,
  StoredOutcome,
} from '@helix-agents/core/runtime'
import * as z from 'zod'

// Guards, not parsers: zod leaves keys like `__proto__` out of what it returns.

const statusSchema = z.enum([
  'idle',
  'running',
  'waiting',
  'interrupted',
  'completed',
  'failed',
  'aborted',
])
const jsonSchema = z.custom<JsonValue>((value) => value !== undefined)
const errorSchema = z.object({ code: z.string(), message: z.string() })

const outcomeSchema = z.object({
  status: statusSchema.exclude(['idle', 'running']),
  output: jsonSchema.optional(),
  error: errorSchema.optional(),
})

const labelsSchema = z.object({
  userId: z.string().optional(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), jsonSchema).optional(),
  parentSessionId: z.string().optional(),
})

const flag = z.boolean().optional()
const refSchema = z.object({
  providerId: z.string(),
  schemaVersion: z.number(),
  capabilities: z.object({ fs: flag, shell: flag, code: flag, snapshot: flag, branch: flag }),
  ref: z.unknown(),
})
const refsSchema = z.record(z.string(), refSchema)

const snapshotRefSchema = z.object({ providerId: z.string(), ref: z.unknown() })

const namesSchema = z.array(z.string())
const rangeSchema = z.tuple([z.number(), z.number()])
const entrySchema = z.object({ version: z.string(), ranges: z.array(rangeSchema).optional() })
const writerSchema = z.object({ actor: z.string(), version: z.string() })
const ledgerSchema = z.object({
  known: z.record(z.string(), z.record(z.string(), entrySchema)),
  writers: z.record(z.string(), writerSchema),
})

const runUsageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  totalTokens: z.number(),
  cost: z.number().optional(),
  modelCalls: z.number(),
  durationMs: z.number(),
})

/** What never changes of a session, besides its names. */
export interface StoredLabels extends SessionLabels {
  readonly parentSessionId?: string
}

export type WorkspaceRefs = Readonly<Record<string, WorkspaceRef>>

export function isStatus(value: unknown): value is SessionStatus {
  return statusSchema.safeParse(value).success
}

export function isJson(value: unknown): value is JsonValue {
  return value !== undefined
}

export function isStoredError(value: unknown): value is StoredError {
  return errorSchema.safeParse(value).success
}

export function isOutcome(value: unknown): value is StoredOutcome {
  return outcomeSchema.safeParse(value).success
}

export function isLabels(value: unknown): value is StoredLabels {
  return labelsSchema.safeParse(value).success
}

export function isRefs(value: unknown): value is WorkspaceRefs {
  return refsSchema.safeParse(value).success
}

export function isRunUsage(value: unknown): value is RunUsage {
  return runUsageSchema.safeParse(value).success
}

/** Names of workspaces. */
export function isNames(value: unknown): value is readonly string[] {
  return namesSchema.safeParse(value).success
}

export function isLedger(value: unknown): value is FileVersionsSnapshot {
  return ledgerSchema.safeParse(value).success
}

export function isRef(value: unknown): value is WorkspaceRef {
  return refSchema.safeParse(value).success
}

export function isSnapshotRef(value: unknown): value is SnapshotRef {
  return snapshotRefSchema.safeParse(value).success
}

/** Why a checkpoint has no files. */
export function isMissing(value: unknown): value is 'failed' | 'evicted' {
  return value === 'failed' || value === 'evicted'
}
