import { type Hook, z } from '@hono/zod-openapi'
import { isSandboxId, SANDBOX_STATUSES } from '../ledger/record-schema.ts'
import type { FleetQuery } from '../store/fleet-store.ts'
import { bodyOf } from './failures.ts'

const label = z.string().min(1).max(256).optional()

/** Statuses that `active` stands for. */
const ACTIVE = SANDBOX_STATUSES.filter((status) => status !== 'terminated')

export const listQuerySchema = z.strictObject({
  status: z
    .enum([...SANDBOX_STATUSES, 'active', 'all'])
    .optional()
    .openapi({ description: 'active: all but terminated. Default active' }),
  provider: label,
  session_id: label,
  agent_type: label,
  task_id: label,
  tenant: label,
  older_than_minutes: z.coerce.number().positive().max(1e9).optional(),
  limit: z.coerce.number().int().min(1).max(200).optional().openapi({ description: 'Default 50' }),
  cursor: z
    .string()
    .max(1024)
    .optional()
    .openapi({ description: 'From the Link header of the previous page' }),
})

export const passQuerySchema = z.strictObject({
  dry_run: z
    .enum(['true', 'false'])
    .optional()
    .openapi({ description: 'true: report what would be done, change nothing' }),
})

export const idSchema = z.object({
  id: z.string().refine(isSandboxId, 'not the id of a sandbox'),
})

export const terminateQuerySchema = z.strictObject({
  reason: z
    .string()
    .min(1)
    .max(500)
    .regex(/^(?=.*\S)\P{Cc}+$/u, 'no control characters, and not empty')
    .optional()
    .openapi({ description: 'Stored with the record' }),
  generation: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .openapi({ description: 'Destroy only this generation of the id; a later one is left alone' }),
})

/** The query of the ledger for that of a request. */
export function toFleetQuery(query: z.infer<typeof listQuerySchema>, now: number): FleetQuery {
  const { status = 'active', older_than_minutes: olderThan, cursor, limit } = query
  return {
    ...toLabels(query),
    ...(status !== 'all' && { status: status === 'active' ? ACTIVE : status }),
    ...(olderThan !== undefined && { createdBefore: now - olderThan * 60_000 }),
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
  }
}

function toLabels(query: z.infer<typeof listQuerySchema>): FleetQuery {
  const { provider, tenant } = query
  return {
    ...(provider !== undefined && { provider }),
    ...(tenant !== undefined && { tenant }),
    ...(query.session_id !== undefined && { sessionId: query.session_id }),
    ...(query.agent_type !== undefined && { agentType: query.agent_type }),
    ...(query.task_id !== undefined && { taskId: query.task_id }),
  }
}

/** Answers a request that does not fit its route, naming each field. */
// oxlint-disable-next-line typescript/no-explicit-any -- the type of a hook for every route
export const rejectInvalid: Hook<any, any, any, any> = (result, context) => {
  if (result.success) return undefined
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  const fields = issues.map(({ path, message }) => `${path}: ${message}`)
  return context.json(bodyOf('invalid-query', fields.join('; '), { issues }), 400)
}
