import { SqlError, type SqlValue } from '@helix-agents/store-sql'

/**
 * Bytes of text that one statement may carry: the largest row of a Durable Object. Cloudflare
 * rejects more; the local runtime does not.
 */
export const MAX_ROW_BYTES = 2_000_000

const encoder = new TextEncoder()

/** @throws {SqlError} `failed` for values that make a row no Durable Object takes. */
export function assertFit(values: readonly SqlValue[], maxBytes: number): void {
  let units = 0
  for (const value of values) if (typeof value === 'string') units += value.length
  // A unit of a string is up to three bytes of UTF-8.
  if (units * 3 <= maxBytes) return
  let bytes = 0
  for (const value of values) if (typeof value === 'string') bytes += encoder.encode(value).length
  if (bytes <= maxBytes) return
  throw new SqlError('failed', `a row of ${bytes} bytes is over the limit of ${maxBytes}`)
}
