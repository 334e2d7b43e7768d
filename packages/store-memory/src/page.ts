import { type PageQuery, StateStoreError } from '@helix-agents/core'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

/** A page of a list that is read from its end: the newest come first. */
export interface PageRange {
  readonly limit: number
  /** Position that the page starts below; absent on the first page. */
  readonly below?: number
}

/**
 * Reads a page query. Cursors are positions that never move, so entries that come or go between
 * two pages are neither repeated nor skipped.
 * @throws {StateStoreError} `invalid-query`
 */
export function parsePageQuery(query: PageQuery, sessionId = ''): PageRange {
  const limit = Math.min(parseCount(query.limit, 1, sessionId) ?? DEFAULT_LIMIT, MAX_LIMIT)
  if (query.cursor === undefined) return { limit }
  if (!/^[0-9a-z]{1,10}$/.test(query.cursor)) {
    throw new StateStoreError('invalid-query', sessionId, 'the cursor is not one of this list')
  }
  return { limit, below: Number.parseInt(query.cursor, 36) }
}

/** The cursor of the page that starts below a position. */
export function toCursor(position: number): string {
  return position.toString(36)
}

/**
 * Reads a limit or an offset.
 * @throws {StateStoreError} `invalid-query` unless it is a whole number of at least `least`.
 */
export function parseCount(
  value: number | undefined,
  least: number,
  sessionId: string,
): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return value
  throw new StateStoreError('invalid-query', sessionId, `${value} is not a usable limit or offset`)
}
