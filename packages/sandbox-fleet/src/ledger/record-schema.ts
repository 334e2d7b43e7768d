import { FleetError } from '@helix-agents/core/runtime'
import * as z from 'zod'
import {
  MAX_HISTORY,
  MAX_SAMPLES,
  type NewSandbox,
  type SandboxError,
  type SandboxRecord,
  type SandboxStatus,
} from './sandbox-record.ts'

/** Every status, in the order of a life. */
export const SANDBOX_STATUSES = [
  'provisioning',
  'running',
  'terminating',
  'terminated',
  'failed',
] as const satisfies readonly SandboxStatus[]

const MAX_LABEL = 256
const MAX_TEXT = 2000

/** Ids go into addresses, log lines and host paths: only harmless characters. */
const idSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/)
const labelSchema = z.string().min(1).max(MAX_LABEL)
const textSchema = z.string().max(MAX_TEXT)
/** Milliseconds since the epoch; later ones are no dates. */
export const timeSchema = z.number().nonnegative().max(8.64e15)
const countSchema = z.int().nonnegative()
const statusSchema = z.enum(SANDBOX_STATUSES)

const leaseSchema = z.object({
  kind: z.enum(['owner', 'detached', 'pool']),
  holder: labelSchema,
  until: timeSchema,
})

const killSchema = z.object({
  reason: z.enum([
    'idle',
    'deadline',
    'provisioning-timeout',
    'failed',
    'orphan',
    'pressure',
    'pool-expired',
    'reappeared',
    'emergency',
    'operator',
    'operation-timeout',
    'owner-closed',
  ]),
  detail: textSchema,
  by: labelSchema,
  at: timeSchema,
})

const identity = {
  id: idSchema,
  provider: labelSchema,
  environment: labelSchema,
  sessionId: labelSchema.exactOptional(),
  agentType: labelSchema.exactOptional(),
  taskId: labelSchema.exactOptional(),
  tenant: labelSchema.exactOptional(),
  createdAt: timeSchema,
  provisionDeadlineAt: timeSchema.exactOptional(),
  deadlineAt: timeSchema.exactOptional(),
  lease: leaseSchema.exactOptional(),
  holdDeadlineAt: timeSchema.exactOptional(),
}

const newSandboxSchema = z.object({ ...identity, critical: z.boolean().exactOptional() })

const recordSchema = z.object({
  ...identity,
  status: statusSchema,
  version: countSchema,
  generation: countSchema,
  statusSince: timeSchema,
  lastActivityAt: timeSchema,
  critical: z.boolean(),
  operations: countSchema,
  timeouts: countSchema,
  consecutiveTimeouts: countSchema,
  unknownProbes: countSchema,
  lastError: z
    .object({
      code: labelSchema,
      message: textSchema,
      cause: textSchema.exactOptional(),
      at: timeSchema,
    })
    .exactOptional(),
  kill: killSchema.exactOptional(),
  owed: z
    .object({ since: timeSchema, attempts: countSchema, nextAttemptAt: timeSchema })
    .exactOptional(),
  samples: z.array(z.object({ at: timeSchema, cpuPercent: z.number(), memoryMb: z.number() })),
  history: z.array(
    z.object({
      at: timeSchema,
      event: labelSchema,
      status: statusSchema,
      detail: textSchema.exactOptional(),
    }),
  ),
})

/** Whether a text can be the id of a sandbox. */
export function isSandboxId(value: unknown): value is string {
  return idSchema.safeParse(value).success
}

/** @throws {FleetError} `invalid-record`, naming the fields. */
export function parseNewSandbox(value: NewSandbox): NewSandbox {
  const result = newSandboxSchema.safeParse(value)
  if (result.success) return result.data
  const fields = result.error.issues.map(({ path }) => path.join('.')).join(', ')
  throw new FleetError('invalid-record', `a sandbox cannot be recorded with this: ${fields}`)
}

/** A record as it was stored. @throws {FleetError} `corrupt` */
export function parseRecord(value: unknown, sandboxId: string): SandboxRecord {
  const result = recordSchema.safeParse(value)
  if (result.success) return result.data
  throw new FleetError('corrupt', 'the record of this sandbox cannot be read', {
    sandboxId,
    cause: result.error,
  })
}

/** What is stored of a record; a writer may do a lot wrong that no reader could undo. */
const storableSchema = recordSchema.extend({
  samples: recordSchema.shape.samples.max(MAX_SAMPLES),
  history: recordSchema.shape.history.max(MAX_HISTORY),
})

/**
 * A record as it may be stored: one that cannot be read later would be a sandbox that is never ended.
 * @throws {FleetError} `invalid-record`, naming the fields.
 */
export function checkRecord(record: SandboxRecord): SandboxRecord {
  const result = storableSchema.safeParse(record)
  if (result.success) return result.data
  const fields = result.error.issues.map(({ path }) => path.join('.')).join(', ')
  throw new FleetError('invalid-record', `a record cannot be stored with this: ${fields}`)
}

/** An error as a record keeps it. */
export function storedError(
  { cause, code, message }: Omit<SandboxError, 'at'>,
  at: number,
): SandboxError {
  const error = { code: shortLabel(code), message: shortText(message), at }
  return cause === undefined ? error : { ...error, cause: shortText(cause) }
}

/** A name short enough to be kept, and never empty. */
export function shortLabel(text: string): string {
  return text === '' ? 'unknown' : text.slice(0, MAX_LABEL)
}

/** A text short enough to be kept; errors of providers can be of any length. */
export function shortText(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`
}
