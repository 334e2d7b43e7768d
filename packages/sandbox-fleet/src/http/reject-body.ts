import type { MiddlewareHandler } from 'hono'
import { bodyOf } from './failures.ts'

/**
 * Rejects a request with a body. Parameters are in the query: one in a body would be ignored, and
 * an intended dry run would be executed.
 */
export const rejectBody: MiddlewareHandler = async (context, next) => {
  if (!(await hasBody(context.req.raw))) return next()
  const message = 'a request has no body: its parameters are in the query, such as ?dry_run=true'
  return context.json(bodyOf('invalid-query', message), 400)
}

/** Not all clients send the length of a body, and some servers add an empty one. */
async function hasBody({ body, headers }: Request): Promise<boolean> {
  const length = headers.get('content-length')
  if (length !== null) return length !== '0'
  if (body === null) return false
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return false
    if (value.byteLength === 0) continue
    await reader.cancel()
    return true
  }
}
