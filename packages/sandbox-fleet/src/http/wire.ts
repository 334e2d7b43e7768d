// What the HTTP API sends, as schemas: the OpenAPI document is made of them, and the dashboard reads
// their types. Names are those of the runbook.
import { z } from '@hono/zod-openapi'
import { SANDBOX_STATUSES } from '../ledger/record-schema.ts'

const time = z.iso.datetime().openapi({ description: 'ISO 8601, UTC' })
const count = z.int().nonnegative()
const label = z.string().nullable()

export const statsSchema = z
  .object({
    active: count.openapi({
      description: 'Counts against capacity: all but detached and terminated',
    }),
    provisioning: count,
    running: count,
    detached: count.openapi({ description: 'Released by a paused session that may resume' }),
    terminating: count,
    failed: count,
    total_created: count,
    total_destroyed: count,
    executions: count.openapi({ description: 'Operations in the alert window' }),
    timeouts: count.openapi({ description: 'Operations in the window that timed out' }),
    max_concurrent: count,
    usage: z.number().openapi({ description: 'active / max_concurrent' }),
    environment: z.string(),
    last_cleanup_at: time.nullable().openapi({ description: 'null: no cleanup has completed yet' }),
    time,
  })
  .openapi('Stats')

const findingSchema = z
  .object({
    code: z.string(),
    severity: z.enum(['warning', 'critical']),
    reason: z.string().openapi({ description: 'Evidence, in one sentence' }),
    action: z.string().openapi({ description: 'Next step: automatic, or for the operator' }),
  })
  .openapi('Finding')

export const sandboxSchema = z
  .object({
    id: z.string(),
    generation: count.openapi({
      description: 'Counts the sandboxes created under this id, from 1',
    }),
    provider: z.string(),
    status: z.enum(SANDBOX_STATUSES),
    environment: z.string(),
    created_at: time,
    age_minutes: z.number(),
    last_activity_at: time,
    idle_minutes: z.number(),
    status_since: time,
    agent_type: label,
    task_id: label,
    session_id: label,
    tenant: label,
    hold_deadline_at: time
      .nullable()
      .openapi({ description: 'When a cleanup may end it although a run holds it' }),
    critical: z
      .boolean()
      .openapi({ description: 'Exempt from emergency cleanups and from the hold limit' }),
    operations: count,
    timeouts: count,
    cpu_percent: z.number().nullable().openapi({ description: 'Of one core, in the last sample' }),
    memory_mb: z.number().nullable(),
    kill_reason: label,
    owed: z.object({ since: time, attempts: count, next_attempt_at: time }).nullable(),
    last_error: z
      .object({
        code: z.string(),
        message: z.string(),
        cause: label.openapi({ description: 'Causes reported by the provider, redacted' }),
        at: time,
      })
      .nullable(),
    findings: z.array(findingSchema),
  })
  .openapi('Sandbox')

export const sandboxDetailSchema = sandboxSchema
  .extend({
    kill_detail: label,
    history: z.array(
      z.object({
        at: time,
        event: z.string(),
        status: z.enum(SANDBOX_STATUSES),
        detail: z.string().optional(),
      }),
    ),
  })
  .openapi('SandboxDetail')

export const logsSchema = z
  .object({
    id: z.string(),
    lines: z.array(z.string()),
    is_cut: z.boolean().openapi({ description: 'true: older lines are omitted' }),
  })
  .openapi('Logs')

export const resourcesSchema = z
  .object({
    cpu_percent: z.number().nullable(),
    memory_mb: z.number().nullable(),
    duration_ms: z.number().openapi({ description: 'Since its creation' }),
    operations: count,
  })
  .openapi('Resources')

export const terminationSchema = z
  .object({
    id: z.string(),
    outcome: z.enum(['destroyed', 'gone', 'owed', 'in-progress']).openapi({
      description: 'owed: not confirmed; it is retried and never reported as destroyed',
    }),
  })
  .openapi('Termination')

export const passSchema = z
  .object({
    pass: z.enum(['cleanup', 'emergency', 'reconcile']),
    dry_run: z.boolean(),
    outcome: z.enum(['completed', 'more', 'lease-held', 'lease-lost', 'store-failed']),
    started_at: time,
    finished_at: time,
    items: z.array(
      z.object({
        id: z.string(),
        provider: z.string(),
        action: z.string(),
        reason: z.string(),
        outcome: z.string(),
      }),
    ),
    spared: z
      .record(z.string(), count)
      .openapi({ description: 'Number of sandboxes left alone, by reason' }),
    rejected: z
      .array(z.object({ provider: z.string(), because: z.string(), detail: z.string() }))
      .openapi({ description: 'Providers whose listing was rejected' }),
    error: z.string().nullable(),
  })
  .openapi('Pass')

export const failureSchema = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      details: z
        .unknown()
        .optional()
        .openapi({ description: 'Further fields; depends on the code' }),
    }),
  })
  .openapi('Failure')

/** Body of `GET /api/sandbox/stats`. */
export type WireStats = z.infer<typeof statsSchema>
/** One finding of a sandbox, in answers. */
export type WireFinding = z.infer<typeof findingSchema>
/** One sandbox of `GET /api/sandbox/list`. */
export type WireSandbox = z.infer<typeof sandboxSchema>
/** Body of `GET /api/sandbox/{id}`. */
export type WireSandboxDetail = z.infer<typeof sandboxDetailSchema>
/** Body of `GET /api/sandbox/{id}/logs`. */
export type WireLogs = z.infer<typeof logsSchema>
/** Body of `GET /api/sandbox/{id}/resources`. */
export type WireResources = z.infer<typeof resourcesSchema>
/** Body of `DELETE /api/sandbox/{id}`. */
export type WireTermination = z.infer<typeof terminationSchema>
/** Body of a cleanup, an emergency or a reconciliation. */
export type WirePass = z.infer<typeof passSchema>
/** Body of every answer from 400 on. */
export type WireFailure = z.infer<typeof failureSchema>
