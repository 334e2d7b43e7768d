import type { Clock } from '@helix-agents/core'
import { withDeadline } from '@helix-agents/core/provider'
import * as z from 'zod'
import { RequestError } from './http-error.ts'

const message = z.string().min(1)

export const startSchema = z.strictObject({
  message,
  state: z.record(z.string(), z.unknown()).optional(),
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
  state: z.enum(['open', 'resolved']).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().optional(),
})
export const resumeSchema = z.strictObject({ message: message.optional() })
export const emptySchema = z.strictObject({})
const workspace = z.string().min(1).max(64)
export const restoreSchema = z.strictObject({
  checkpointId: z.string().min(1),
  /** Workspaces whose files go back too. */
  files: z.union([z.boolean(), z.array(workspace).max(100)]).exactOptional(),
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
export const branchSchema = z.strictObject({
  sessionId: z.string().optional(),
  checkpointId: z.string().min(1).optional(),
  files: z.literal('checkpoint').exactOptional(),
})
export const checkpointsSchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().optional(),
})
export const pageSchema = z.strictObject({
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})

/** How much of a body is read, and how long. */
export interface BodyLimits {
  readonly maxBytes: number
  /** From the first look at the body to its end. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** Takes a place among the bodies that are not read; the result gives it back. */
  readonly takePlace?: () => () => void
}

export const DEFAULT_BODY_TIMEOUT_MS = 30_000

/**
 * Reads the body of a request; an empty one is an empty object.
 * @throws {RequestError} 408 for one that does not end in time, 413 for one that is too large, 415
 * for one that is not sent as JSON, 429 when too many are being read, 400 for one that is no JSON
 * or not what the schema says.
 */
export async function readBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  limits: BodyLimits,
): Promise<T> {
  const type = request.headers.get('content-type')
  if (request.body !== null && type !== null && !JSON_TYPE.test(type)) throw notJson()
  const text = await readText(request, limits)
  if (text.trim() === '') return check(schema, {})
  // Without a type it is none that a page of another site cannot send.
  if (type === null) throw notJson()
  return check(schema, parseJson(text))
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

function notJson(): RequestError {
  const rule = 'the body must be sent with content-type: application/json'
  return new RequestError(415, 'unsupported-media-type', rule)
}

/** @throws {RequestError} 400 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
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
  throw new RequestError(400, 'invalid-request', 'the request is not valid', {
    details: { issues },
  })
}

async function readText({ headers, body }: Request, limits: BodyLimits): Promise<string> {
  const { maxBytes, timeoutMs, clock, takePlace } = limits
  const declared = Number(headers.get('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  if (body === null) return ''
  const leave = takePlace?.()
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const onTimeout = (): Error => tooSlow(timeoutMs)
  try {
    const chunks = readChunks(reader, maxBytes)
    return decode(await withDeadline(chunks, { clock, timeoutMs, onTimeout }))
  } catch (error) {
    // Nobody waits for a client that does not end its body.
    void Promise.allSettled([reader.cancel()])
    throw error
  } finally {
    leave?.()
  }
}

/** Stops reading as soon as there is too much, whatever the headers say. */
async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return chunks
    bytes += value.length
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    chunks.push(value)
  }
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  try {
    const parts = chunks.map((chunk) => decoder.decode(chunk, { stream: true }))
    return parts.join('') + decoder.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new RequestError(400, 'invalid-json', 'the body is not UTF-8')
  }
}

function tooSlow(timeoutMs: number): RequestError {
  return new RequestError(408, 'body-timeout', `the body did not end within ${timeoutMs} ms`)
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError(413, 'too-large', `the body is larger than ${maxBytes} bytes`)
}
