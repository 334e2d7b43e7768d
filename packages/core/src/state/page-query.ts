import { StateStoreError } from '../errors/state-store-error.ts'

/** Size and start of a page. */
export interface PageQuery {
  /** Default 50, at most 200. */
  readonly limit?: number
  /** From the page before. */
  readonly cursor?: string
}

/** A page of results and the cursor of the next one. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Absent on the last page. */
  readonly nextCursor?: string
}

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

/** A page of a list; for stores. */
export interface PageRange {
  readonly limit: number
  /** A list from its newest entry down: the page has entries with smaller keys only. */
  readonly below: number
  /** A list from its oldest entry up: the page has entries with larger keys only. */
  readonly above: number
}

/**
 * Reads a page query. A cursor is the key of the last entry of a page, and keys never change:
 * entries that come or go between two pages are neither repeated nor skipped.
 * @throws {StateStoreError} `invalid-query`
 */
export function parsePageQuery(query: PageQuery, sessionId = ''): PageRange {
  const limit = Math.min(parseCount(query.limit, 1, sessionId) ?? DEFAULT_LIMIT, MAX_LIMIT)
  if (query.cursor === undefined) return { limit, below: Number.MAX_SAFE_INTEGER, above: -1 }
  if (!/^[0-9a-z]{1,10}$/.test(query.cursor)) {
    throw new StateStoreError('invalid-query', sessionId, 'the cursor is not one of this list')
  }
  const key = Number.parseInt(query.cursor, 36)
  return { limit, below: key, above: key }
}

/** The cursor of the page that follows the entry with this key. */
export function toCursor(key: number): string {
  return key.toString(36)
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
