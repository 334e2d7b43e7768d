import * as z from 'zod'
import type { BodyReader } from './body-reader.ts'
import { RequestError } from './http-error.ts'

const message = z.string().min(1).max(100_000)
const SESSION_ID = /^[A-Za-z0-9_-]{1,64}$/

export const startSchema = z.strictObject({
  message,
  sessionId: z.string().regex(SESSION_ID, 'must be 1 to 64 letters, digits, "-" or "_"').optional(),
})
/** With a delivery it is for the run under way, which a `messageId` reaches once. */
export const messageSchema = z.strictObject({
  message,
  delivery: z.enum(['steer', 'followUp']).exactOptional(),
  messageId: z.string().min(1).max(200).exactOptional(),
})
const reason = z.string().max(10_000).exactOptional()
/** What a person decides about a request; the executor checks what it is about. */
export const answerSchema = z.union([
  z.strictObject({
    decision: z.literal('approve'),
    input: z.json().exactOptional(),
    remember: z.literal('session').exactOptional(),
    reason,
  }),
  z.strictObject({ decision: z.literal('deny'), reason }),
  z.strictObject({ decision: z.literal('output').exactOptional(), output: z.json() }),
])
export const requestsSchema = z.strictObject({
  state: z.enum(['open', 'resolved']).exactOptional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().exactOptional(),
})
const workspace = z.string().min(1).max(64)
export const restoreSchema = z.strictObject({
  checkpointId: z.string().min(1),
  /** Workspaces whose files go back too. */
  files: z.union([z.boolean(), z.array(workspace).max(100)]).exactOptional(),
})
export const branchSchema = z.strictObject({
  checkpointId: z.string().min(1).exactOptional(),
  sessionId: z.string().regex(SESSION_ID).exactOptional(),
  files: z.literal('checkpoint').exactOptional(),
})
export const checkpointsSchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().exactOptional(),
})
/** Ids of checkpoints, or `now`. */
export const diffSchema = z.strictObject({
  from: z.string().min(1),
  to: z.string().min(1).default('now'),
  workspace: workspace.exactOptional(),
})
export const filesSchema = z.strictObject({
  checkpointId: z.string().min(1),
  workspace: workspace.exactOptional(),
})
export const resumeSchema = z.strictObject({ message: message.optional() })
export const pageSchema = z.strictObject({
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})

/** @throws {RequestError} 400 for what is no id of a session. */
export function checkSessionId(id: string): string {
  if (SESSION_ID.test(id)) return id
  const rule = 'a session id is 1 to 64 letters, digits, "-" or "_"'
  throw new RequestError(400, 'invalid-session-id', rule)
}

/**
 * @throws {RequestError} 400 for what is no JSON or not what the schema says; 408, 413, 415, 429 as
 * `BodyReader` does.
 */
export async function readBody<T>(
  bodies: BodyReader,
  request: Request,
  schema: z.ZodType<T>,
): Promise<T> {
  const text = await bodies.read(request)
  try {
    return check(schema, text === '' ? {} : JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new RequestError(400, 'invalid-json', 'the body is not JSON')
  }
}

/** @throws {RequestError} 400, with the path and the problem of each bad field. */
export function check<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.map((issue) => ({
    path: issue.path.join('.'),
    message: issue.message,
  }))
  throw new RequestError(400, 'invalid-request', 'the request is not valid', { issues })
}
