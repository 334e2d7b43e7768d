import type { JsonValue } from '@helix-agents/core'
import * as z from 'zod'

/** Who sends a request, as the authentication of the application says. */
export interface Caller {
  /**
   * The owner of the sessions that the caller starts. A session of another user is a 404 for
   * it. Without one, sessions have no owner: every authenticated caller may use them.
   */
  readonly userId?: string
  /** Uses sessions of every user. Default false. */
  readonly isOperator?: boolean
  /** Only reads: what would change a session is a 403, also over its WebSocket. Default false. */
  readonly isReadOnly?: boolean
  /** Labels of the sessions that the caller starts; a caller is at most 4 096 characters of JSON. */
  readonly tags?: readonly string[]
  /** Further labels of the sessions that the caller starts. */
  readonly metadata?: Readonly<Record<string, JsonValue>>
}

const callerSchema = z.strictObject({
  userId: z.string().min(1).optional(),
  isOperator: z.boolean().optional(),
  isReadOnly: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.json()).optional(),
})

/** Of the header. A WebSocket carries 16 384 bytes with it, up to two for each character. */
const MAX_CALLER_LENGTH = 4096

/** An error, a map or a promise has no fields of its own: it is not an anonymous caller. */
export function isCaller(value: unknown): value is Caller {
  return isNamed(value) && callerSchema.safeParse(value).success
}

function isNamed(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null
  return isPlain || Object.keys(value).length > 0
}

/** The caller as a header. @throws {TypeError} for one that is too large to be carried. */
export function encodeCaller(caller: Caller): string {
  const text = encodeURIComponent(JSON.stringify(caller))
  if (text.length > MAX_CALLER_LENGTH) throw new TypeError('the caller is too large for a header')
  return text
}

/** Nobody in particular, when the header is absent. */
export function decodeCaller(header: string | null): Caller {
  if (header === null) return {}
  const caller: unknown = JSON.parse(decodeURIComponent(header))
  if (isCaller(caller)) return caller
  throw new TypeError('the header names no caller')
}
