import type { RequestResolution, SessionRequest } from '@helix-agents/core/runtime'
import * as z from 'zod'
import type { SqlRow } from '../../sql-database.ts'
import { nameColumn, numberColumn, optionalColumn, shapedColumn } from '../columns/column.ts'

/** What never changes of a request. */
type AskedRequest = Omit<SessionRequest, 'resolution' | 'startedAt' | 'replacedBy'>

const json = z.custom<unknown>((value) => value !== undefined)

const askedSchema = z.object({
  requestId: z.string(),
  sessionId: z.string(),
  askingSessionId: z.string(),
  agentPath: z.array(z.string()),
  kind: z.enum(['approval', 'question', 'client-tool']),
  toolCallId: z.string(),
  toolName: z.string(),
  arguments: z.string(),
  preview: z.object({
    title: z.string(),
    body: z.string().optional(),
    format: z.enum(['diff', 'text', 'json']).optional(),
    truncated: z.boolean().optional(),
  }),
  subject: z.string().optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
})

const given = { by: z.string().optional(), at: z.number() }
const reason = z.string().optional()

const resolutionSchema = z.discriminatedUnion('decision', [
  z.object({
    ...given,
    decision: z.literal('approve'),
    editedArguments: z.string().optional(),
    remember: z.literal('session').optional(),
    reason,
  }),
  z.object({ ...given, decision: z.literal('deny'), reason }),
  z.object({ ...given, decision: z.literal('output'), output: json }),
  z.object({ ...given, decision: z.enum(['expired', 'cancelled']) }),
])

/** What never changes of a request, as JSON. */
export function toAskedText(request: SessionRequest): string {
  const { resolution: _, startedAt: __, replacedBy: ___, ...asked } = request
  return JSON.stringify(asked)
}

/** @throws {SqlError} `corrupt` */
export function toSessionRequest(row: SqlRow): SessionRequest {
  const resolution = optionalColumn(row, 'resolution', resolutionColumn)
  const startedAt = optionalColumn(row, 'started_at', numberColumn)
  const replacedBy = optionalColumn(row, 'replaced_by', nameColumn)
  return {
    ...shapedColumn(row, 'request', isAsked),
    ...(resolution !== undefined && { resolution }),
    ...(startedAt !== undefined && { startedAt }),
    ...(replacedBy !== undefined && { replacedBy }),
  }
}

function resolutionColumn(row: SqlRow, name: string): RequestResolution {
  return shapedColumn(row, name, isResolution)
}

function isAsked(value: unknown): value is AskedRequest {
  return askedSchema.safeParse(value).success
}

function isResolution(value: unknown): value is RequestResolution {
  return resolutionSchema.safeParse(value).success
}
