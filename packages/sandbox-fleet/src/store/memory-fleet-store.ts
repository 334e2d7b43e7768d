import type { JsonValue } from '@helix-agents/core'
import { attentionAt } from '../ledger/attention.ts'
import { checkRecord } from '../ledger/record-schema.ts'
import { COUNT_NAMES, countChanges, type FleetCounts, NO_COUNTS } from '../ledger/record-counts.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import type {
  DueQuery,
  FleetPage,
  FleetQuery,
  FleetStore,
  FleetUsage,
  LeaseFence,
  LeaseRequest,
} from './fleet-store.ts'
import { grantLease, type StoredLease } from './grant-lease.ts'
import {
  parseDueQuery,
  parseQuery,
  type ParsedQuery,
  toCursor,
  toDueCursor,
  USAGE_KEPT_MS,
  usageBucket,
} from './parse-query.ts'
import { assertFollows, assertRoom, leaseLost, reviveRecord } from './revive-record.ts'

interface Row {
  /** Order in which ids came. */
  readonly key: number
  readonly record: SandboxRecord
}

interface Due extends Row {
  readonly at: number
}

/** Keeps the ledger in memory: for tests, and for processes whose sandboxes end with them. */
export class MemoryFleetStore implements FleetStore {
  readonly #rows = new Map<string, Row>()
  readonly #counts = new Map<string, FleetCounts>()
  readonly #leases = new Map<string, StoredLease>()
  readonly #usage = new Map<number, FleetUsage>()
  readonly #state = new Map<string, JsonValue>()
  #keys = 0

  async create(
    record: SandboxRecord,
    options: { readonly maxActive?: number } = {},
  ): Promise<SandboxRecord> {
    const existing = this.#rows.get(record.id)
    const stored = checkRecord(reviveRecord(existing?.record, record))
    assertRoom(this.#countsOf(record.environment), options.maxActive)
    this.#put({ key: existing?.key ?? ++this.#keys, record: stored })
    return stored
  }

  async get(id: string): Promise<SandboxRecord | undefined> {
    return this.#rows.get(id)?.record
  }

  async update(
    next: SandboxRecord,
    { fence }: { readonly fence?: LeaseFence } = {},
  ): Promise<void> {
    if (fence !== undefined && this.#leases.get(fence.name)?.token !== fence.token) {
      throw leaseLost()
    }
    const existing = this.#rows.get(next.id)
    assertFollows(existing?.record, next)
    this.#put({ key: existing?.key ?? 0, record: checkRecord(next) })
  }

  async list(query: FleetQuery = {}): Promise<FleetPage> {
    const parsed = parseQuery(query)
    const found: Row[] = []
    const rows = [...this.#rows.values()]
    for (let at = rows.length - 1; at >= 0 && found.length <= parsed.limit; at -= 1) {
      const row = rows[at]
      if (row !== undefined && row.key < parsed.below && fits(row.record, parsed)) found.push(row)
    }
    return toPage(found, parsed.limit, ({ key }) => toCursor(key))
  }

  async due(query: DueQuery): Promise<FleetPage> {
    const { limit, after } = parseDueQuery(query)
    const found: Due[] = []
    for (const row of this.#rows.values()) {
      if (row.record.environment !== query.environment) continue
      const at = attentionAt(row.record)
      if (at === undefined || at > query.until || at < after.attentionAt) continue
      if (at > after.attentionAt || row.key > after.key) found.push({ ...row, at })
    }
    found.sort((a, b) => a.at - b.at || a.key - b.key)
    return toPage(found, limit, ({ at, key }) => toDueCursor({ attentionAt: at, key }))
  }

  async counts(environment?: string): Promise<FleetCounts> {
    return this.#countsOf(environment)
  }

  async firstCreatedAt(environment: string): Promise<number | undefined> {
    for (const { record } of this.#rows.values()) {
      if (record.environment === environment) return record.createdAt
    }
    return undefined
  }

  async prune(options: { readonly before: number; readonly limit: number }): Promise<number> {
    let removed = 0
    for (const [id, { record }] of this.#rows) {
      if (removed >= options.limit) break
      if (record.status !== 'terminated' || record.statusSince >= options.before) continue
      this.#rows.delete(id)
      this.#count(record.environment, [['terminated', -1]])
      removed += 1
    }
    return removed
  }

  async addUsage(usage: FleetUsage, at: number): Promise<void> {
    const bucket = usageBucket(at)
    this.#usage.set(bucket, sum(this.#usage.get(bucket), usage))
    for (const old of this.#usage.keys()) {
      if (old >= bucket - USAGE_KEPT_MS) break
      this.#usage.delete(old)
    }
  }

  async usageSince(since: number): Promise<FleetUsage> {
    const from = usageBucket(since)
    let total: FleetUsage = { executions: 0, timeouts: 0 }
    for (const [bucket, usage] of this.#usage) if (bucket >= from) total = sum(total, usage)
    return total
  }

  async acquireLease(request: LeaseRequest): Promise<number | undefined> {
    const granted = grantLease(this.#leases.get(request.name), request)
    if (granted !== undefined) this.#leases.set(request.name, granted)
    return granted?.token
  }

  async releaseLease({ name, token }: LeaseFence): Promise<void> {
    const lease = this.#leases.get(name)
    if (lease?.token === token) this.#leases.set(name, { ...lease, until: 0 })
  }

  async readState(key: string): Promise<JsonValue | undefined> {
    return this.#state.get(key)
  }

  async writeState(key: string, value: JsonValue): Promise<void> {
    this.#state.set(key, value)
  }

  #put(row: Row): void {
    const before = this.#rows.get(row.record.id)?.record
    this.#rows.set(row.record.id, row)
    this.#count(row.record.environment, countChanges(before, row.record))
  }

  #count(environment: string, changes: ReturnType<typeof countChanges>): void {
    const counts = { ...this.#countsOf(environment) }
    for (const [name, change] of changes) counts[name] += change
    this.#counts.set(environment, counts)
  }

  #countsOf(environment: string | undefined): FleetCounts {
    if (environment !== undefined) return this.#counts.get(environment) ?? NO_COUNTS
    const total = { ...NO_COUNTS }
    for (const counts of this.#counts.values()) {
      for (const name of COUNT_NAMES) total[name] += counts[name]
    }
    return total
  }
}

function fits(record: SandboxRecord, query: ParsedQuery): boolean {
  const { statuses, equal, pool, createdBefore } = query
  if (statuses !== undefined && !statuses.includes(record.status)) return false
  if (createdBefore !== undefined && record.createdAt > createdBefore) return false
  if (pool !== undefined && !isInPool(record, pool)) return false
  return equal.every(([name, value]) => record[name] === value)
}

function isInPool({ lease }: SandboxRecord, pool: string): boolean {
  return lease?.kind === 'pool' && lease.holder === pool
}

function toPage<T extends Row>(
  found: readonly T[],
  limit: number,
  cursorOf: (row: T) => string,
): FleetPage {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const hasMore = last !== undefined && found.length > limit
  return {
    records: rows.map(({ record }) => record),
    ...(hasMore && { nextCursor: cursorOf(last) }),
    unreadable: 0,
  }
}

function sum(a: FleetUsage | undefined, b: FleetUsage): FleetUsage {
  if (a === undefined) return b
  return { executions: a.executions + b.executions, timeouts: a.timeouts + b.timeouts }
}
