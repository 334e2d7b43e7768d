import * as z from 'zod'
import { RequestError } from './http-error.ts'

const message = z.string().min(1)

export const startSchema = z.strictObject({
  message,
  state: z.record(z.string(), z.unknown()).optional(),
})
export const messageSchema = z.strictObject({ message })
export const resumeSchema = z.strictObject({ message: message.optional() })
export const emptySchema = z.strictObject({})
export const restoreSchema = z.strictObject({ checkpointId: z.string().min(1) })
export const branchSchema = z.strictObject({
  sessionId: z.string().optional(),
  checkpointId: z.string().min(1).optional(),
})
export const checkpointsSchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().optional(),
})
export const pageSchema = z.strictObject({
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})

/**
 * Reads the body of a request; an empty one is an empty object.
 * @throws {RequestError} 413 for one that is too large, 400 for one that is no JSON or not what
 * the schema says.
 */
export async function readBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  maxBytes: number,
): Promise<T> {
  const text = await readText(request, maxBytes)
  return check(schema, text.trim() === '' ? {} : parseJson(text))
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

/** Stops reading as soon as there is too much, whatever the headers say. */
async function readText({ headers, body }: Request, maxBytes: number): Promise<string> {
  const declared = Number(headers.get('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  if (body === null) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.length
    if (bytes > maxBytes) {
      await reader.cancel()
      throw tooLarge(maxBytes)
    }
    chunks.push(value)
  }
  return decode(chunks)
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

function tooLarge(maxBytes: number): RequestError {
  return new RequestError(413, 'too-large', `the body is larger than ${maxBytes} bytes`)
}
