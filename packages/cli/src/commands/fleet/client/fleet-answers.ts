import * as z from 'zod'

const count = z.number()
const label = z.string().nullable().default(null)
const severity = z.enum(['warning', 'critical'])

/** How a fleet stands; fields that we do not know pass. */
export const statsSchema = z.looseObject({
  active: count,
  provisioning: count,
  running: count.default(0),
  detached: count.default(0),
  terminating: count,
  failed: count.default(0),
  total_created: count,
  total_destroyed: count,
  executions: count.default(0),
  timeouts: count.default(0),
  max_concurrent: count.optional(),
  environment: z.string().default('?'),
  last_cleanup_at: z.string().nullish(),
  time: z.string().optional(),
})

const findingSchema = z.looseObject({
  code: z.string(),
  severity,
  reason: z.string(),
  action: z.string(),
})

/** One sandbox of a list. */
export const sandboxSchema = z.looseObject({
  id: z.string(),
  provider: z.string().default('?'),
  status: z.string(),
  created_at: z.string(),
  age_minutes: z.number(),
  idle_minutes: z.number().optional(),
  agent_type: label,
  task_id: label,
  session_id: label,
  tenant: label,
  critical: z.boolean().default(false),
  operations: count.optional(),
  timeouts: count.optional(),
  cpu_percent: z.number().nullable().optional(),
  memory_mb: z.number().nullable().optional(),
  kill_reason: label,
  kill_detail: label,
  owed: z
    .looseObject({ since: z.string(), attempts: count, next_attempt_at: z.string() })
    .nullable()
    .default(null),
  last_error: z
    .looseObject({ code: z.string(), message: z.string(), cause: z.string().nullish() })
    .nullable()
    .default(null),
  findings: z.array(findingSchema).default([]),
  history: z
    .array(
      z.looseObject({
        at: z.string(),
        event: z.string(),
        status: z.string(),
        detail: z.string().optional(),
      }),
    )
    .optional(),
})

export const listSchema = z.array(sandboxSchema)

export const logsSchema = z.looseObject({
  lines: z.array(z.string()),
  is_cut: z.boolean().default(false),
})

export const resourcesSchema = z.looseObject({
  cpu_percent: z.number().nullable(),
  memory_mb: z.number().nullable(),
  duration_ms: z.number(),
  operations: count,
})

export const terminationSchema = z.looseObject({ id: z.string(), outcome: z.string() })

/** What one pass of cleanup, emergency or reconciliation did. */
export const passSchema = z.looseObject({
  pass: z.string(),
  dry_run: z.boolean(),
  outcome: z.string(),
  items: z.array(
    z.looseObject({
      id: z.string(),
      provider: z.string(),
      action: z.string(),
      reason: z.string(),
      outcome: z.string(),
    }),
  ),
  spared: z.record(z.string(), count).default({}),
  rejected: z
    .array(z.looseObject({ provider: z.string(), because: z.string(), detail: z.string() }))
    .default([]),
  error: z.string().nullable().default(null),
})

export type FleetNumbers = z.output<typeof statsSchema>
export type SandboxAnswer = z.output<typeof sandboxSchema>
export type ResourcesAnswer = z.output<typeof resourcesSchema>
export type PassAnswer = z.output<typeof passSchema>
