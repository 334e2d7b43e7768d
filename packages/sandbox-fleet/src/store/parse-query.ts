import { FleetError } from '@helix-agents/core/runtime'
import { SANDBOX_STATUSES } from '../ledger/record-schema.ts'
import type { SandboxStatus } from '../ledger/sandbox-record.ts'
import type { DueQuery, FleetQuery } from './fleet-store.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200
const USAGE_BUCKET_MS = 60_000
/** Usage older than this is dropped. */
export const USAGE_KEPT_MS = 24 * 3_600_000

/** Columns that a query compares for equality, the most selective first. */
export const EQUAL_FILTERS = [
  'sessionId',
  'taskId',
  'tenant',
  'agentType',
  'provider',
  'environment',
] as const satisfies readonly (keyof FleetQuery)[]

/** A query with its defaults. */
export interface ParsedQuery {
  readonly statuses: readonly SandboxStatus[] | undefined
  readonly equal: readonly (readonly [(typeof EQUAL_FILTERS)[number], string])[]
  readonly pool: string | undefined
  readonly createdBefore: number | undefined
  readonly limit: number
  /** Only records added before this one. */
  readonly below: number
}

/** @throws {FleetError} `invalid-query` */
export function parseQuery(query: FleetQuery): ParsedQuery {
  return {
    statuses: parseStatuses(query.status),
    equal: EQUAL_FILTERS.flatMap((name) => {
      const value = query[name]
      return value === undefined ? [] : [[name, value] as const]
    }),
    pool: query.pool,
    createdBefore: query.createdBefore,
    limit: parseLimit(query.limit),
    below: query.cursor === undefined ? Number.MAX_SAFE_INTEGER : parseKey(query.cursor),
  }
}

function parseStatuses(status: FleetQuery['status']): readonly SandboxStatus[] | undefined {
  if (status === undefined) return undefined
  const statuses = typeof status === 'string' ? [status] : status
  if (statuses.length > 0 && statuses.every((one) => SANDBOX_STATUSES.includes(one))) {
    return [...new Set(statuses)]
  }
  throw new FleetError('invalid-query', `there is no such status; there are ${SANDBOX_STATUSES}`)
}

function parseLimit(limit: number = DEFAULT_LIMIT): number {
  if (Number.isSafeInteger(limit) && limit >= 1) return Math.min(limit, MAX_LIMIT)
  throw new FleetError('invalid-query', `${limit} is not a usable limit`)
}

/** The cursor behind a record of a list. */
export function toCursor(key: number): string {
  return key.toString(36)
}

function parseKey(cursor: string): number {
  if (/^[0-9a-z]{1,10}$/.test(cursor)) return Number.parseInt(cursor, 36)
  throw new FleetError('invalid-query', 'the cursor is not one of this list')
}

/** A place in the order of `due`. */
export interface DueKey {
  readonly attentionAt: number
  readonly key: number
}

export interface ParsedDueQuery {
  readonly limit: number
  readonly after: DueKey
}

/** @throws {FleetError} `invalid-query` */
export function parseDueQuery({ limit, cursor }: DueQuery): ParsedDueQuery {
  const after = cursor === undefined ? { attentionAt: -1, key: -1 } : parseDueCursor(cursor)
  return { limit: parseLimit(limit), after }
}

export function toDueCursor({ attentionAt, key }: DueKey): string {
  return `${toCursor(attentionAt)}.${toCursor(key)}`
}

function parseDueCursor(cursor: string): DueKey {
  const [attentionAt = '', key = '', rest] = cursor.split('.')
  if (rest !== undefined)
    throw new FleetError('invalid-query', 'the cursor is not one of this list')
  return { attentionAt: parseKey(attentionAt), key: parseKey(key) }
}

/** The start of the minute in which usage is kept. */
export function usageBucket(at: number): number {
  return Math.floor(at / USAGE_BUCKET_MS) * USAGE_BUCKET_MS
}
