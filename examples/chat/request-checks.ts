import type { Context, MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import * as z from 'zod'
import { errorBody } from './error-body.ts'

const idSchema = z.string().regex(/^[\w-]{1,64}$/)
const text = z.string().min(1).max(10_000)
const reason = z.string().max(1000).exactOptional()
const requestId = z.string().min(1).max(100)
const answers = z
  .array(
    z.union([
      z.strictObject({
        requestId,
        decision: z.literal('approve'),
        reason,
        input: z.json().exactOptional(),
      }),
      z.strictObject({ requestId, decision: z.literal('deny'), reason }),
      z.strictObject({ requestId, decision: z.literal('output'), output: z.json() }),
    ]),
  )
  .min(1)
  .max(100)

export const answersSchema = z.strictObject({ answers })
export const steerSchema = z.strictObject({ text })
/** Something new to say, or answers to calls that wait. */
export const turnSchema = z.union([
  z.strictObject({ id: idSchema, text }),
  z.strictObject({ id: idSchema, answers }),
])

/** @throws {HTTPException} 400 for what is not as the schema says, 415 for what is not sent as JSON. */
export async function readJson<T>(context: Context, schema: z.ZodType<T>): Promise<T> {
  // Pages of other sites cannot send this type unless they are allowed to.
  const isJson = /^application\/json\s*(?:;|$)/i.test(context.req.header('content-type') ?? '')
  const sentence = 'the body must be sent with content-type: application/json'
  if (!isJson) throw refusal(415, 'unsupported-media-type', sentence)
  const parsed = schema.safeParse(await context.req.json().catch(() => undefined))
  if (parsed.success) return parsed.data
  throw refusal(400, 'invalid-request', z.prettifyError(parsed.error))
}

export const refuseBadId: MiddlewareHandler = async (context, next) => {
  if (idSchema.safeParse(context.req.param('id')).success) return next()
  const sentence = 'an id is 1 to 64 letters, digits, "-" or "_"'
  return context.json(errorBody('invalid-session-id', sentence), 400)
}

function refusal(status: 400 | 415, code: string, message: string): HTTPException {
  return new HTTPException(status, { res: Response.json(errorBody(code, message), { status }) })
}
