import type { JsonValue } from '@helix-agents/core'
import {
  fromSqlText,
  type SqlDatabase,
  type SqlStatements,
  toSqlText,
} from '@helix-agents/store-sql'
import { checkRecord } from '../ledger/record-schema.ts'
import { countChanges, type FleetCounts } from '../ledger/record-counts.ts'
import type { SandboxRecord } from '../ledger/sandbox-record.ts'
import type {
  DueQuery,
  FleetPage,
  FleetQuery,
  FleetStore,
  FleetUsage,
  LeaseFence,
  LeaseRequest,
} from '../store/fleet-store.ts'
import { grantLease, type StoredLease } from '../store/grant-lease.ts'
import { parseQuery, USAGE_KEPT_MS, usageBucket } from '../store/parse-query.ts'
import { assertFollows, assertRoom, leaseLost, reviveRecord } from '../store/revive-record.ts'
import { addCounts, readCounts } from './counts.ts'
import { lockFleet, shareFleetLock } from './fleet-locks.ts'
import { dueRecords, listRecords } from './list-records.ts'
import { findRecord, insertRecord, lockRecord, updateRecord } from './record-row.ts'
import { damaged, toFleetError } from './to-fleet-error.ts'

const FIRST_CREATED =
  'SELECT created_at FROM helix_fleet_sandboxes WHERE seq > 0 AND environment = ? ORDER BY seq LIMIT 1'
const PRUNE =
  'DELETE FROM helix_fleet_sandboxes WHERE seq IN (' +
  "SELECT seq FROM helix_fleet_sandboxes WHERE status = 'terminated' AND status_since < ?" +
  ' LIMIT ?) RETURNING environment'
const PUT_LEASE =
  'INSERT INTO helix_fleet_leases (name, holder, token, until) VALUES (?, ?, ?, ?)' +
  ' ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, token = excluded.token,' +
  ' until = excluded.until'
const ADD_USAGE =
  'INSERT INTO helix_fleet_usage (bucket, executions, timeouts) VALUES (?, ?, ?)' +
  ' ON CONFLICT (bucket) DO UPDATE SET' +
  ' executions = helix_fleet_usage.executions + excluded.executions,' +
  ' timeouts = helix_fleet_usage.timeouts + excluded.timeouts'
const PUT_STATE =
  'INSERT INTO helix_fleet_state (key, value) VALUES (?, ?)' +
  ' ON CONFLICT (key) DO UPDATE SET value = excluded.value'

/** Keeps the ledger in a SQL database that `migrateFleet` has prepared. */
export class SqlFleetStore implements FleetStore {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  create(
    record: SandboxRecord,
    options: { readonly maxActive?: number } = {},
  ): Promise<SandboxRecord> {
    const { maxActive } = options
    return this.#write((sql) => {
      lockFleet(sql, 'create')
      lockRecord(sql, record.id)
      const existing = findRecord(sql, record.id)
      const stored = checkRecord(reviveRecord(existing, record))
      if (maxActive !== undefined) assertRoom(readCounts(sql, record.environment), maxActive)
      if (existing === undefined) insertRecord(sql, stored)
      else updateRecord(sql, stored)
      addCounts(sql, stored.environment, countChanges(existing, stored))
      return stored
    })
  }

  get(id: string): Promise<SandboxRecord | undefined> {
    return this.#read((sql) => findRecord(sql, id))
  }

  update(next: SandboxRecord, options: { readonly fence?: LeaseFence } = {}): Promise<void> {
    return this.#write((sql) => {
      const { fence } = options
      if (fence !== undefined) {
        shareFleetLock(sql, `lease ${fence.name}`)
        if (findLease(sql, fence.name)?.token !== fence.token) throw leaseLost()
      }
      lockRecord(sql, next.id)
      const existing = findRecord(sql, next.id)
      assertFollows(existing, next)
      const stored = checkRecord(next)
      updateRecord(sql, stored)
      addCounts(sql, stored.environment, countChanges(existing, stored))
    })
  }

  async list(query: FleetQuery = {}): Promise<FleetPage> {
    const parsed = parseQuery(query)
    return this.#read((sql) => listRecords(sql, parsed))
  }

  due(query: DueQuery): Promise<FleetPage> {
    return this.#read((sql) => dueRecords(sql, query))
  }

  counts(environment?: string): Promise<FleetCounts> {
    return this.#read((sql) => readCounts(sql, environment))
  }

  firstCreatedAt(environment: string): Promise<number | undefined> {
    return this.#read((sql) => {
      const row = sql.get(FIRST_CREATED, toSqlText(environment))
      return row === undefined ? undefined : Number(row['created_at'])
    })
  }

  prune({ before, limit }: { readonly before: number; readonly limit: number }): Promise<number> {
    return this.#write((sql) => {
      const removed = sql.all(PRUNE, before, limit)
      const environments = Map.groupBy(removed, ({ environment }) =>
        fromSqlText(String(environment)),
      )
      for (const [environment, { length }] of environments) {
        addCounts(sql, environment, [['terminated', -length]])
      }
      return removed.length
    })
  }

  addUsage({ executions, timeouts }: FleetUsage, at: number): Promise<void> {
    return this.#write((sql) => {
      const bucket = usageBucket(at)
      sql.run(ADD_USAGE, bucket, executions, timeouts)
      sql.run('DELETE FROM helix_fleet_usage WHERE bucket < ?', bucket - USAGE_KEPT_MS)
    })
  }

  usageSince(since: number): Promise<FleetUsage> {
    return this.#read((sql) => {
      const row = sql.get(
        'SELECT coalesce(sum(executions), 0) AS executions, coalesce(sum(timeouts), 0) AS timeouts' +
          ' FROM helix_fleet_usage WHERE bucket >= ?',
        usageBucket(since),
      )
      return { executions: Number(row?.['executions']), timeouts: Number(row?.['timeouts']) }
    })
  }

  acquireLease(request: LeaseRequest): Promise<number | undefined> {
    return this.#write((sql) => {
      lockFleet(sql, `lease ${request.name}`)
      const granted = grantLease(findLease(sql, request.name), request)
      if (granted !== undefined) putLease(sql, request.name, granted)
      return granted?.token
    })
  }

  releaseLease({ name, token }: LeaseFence): Promise<void> {
    return this.#write((sql) => {
      lockFleet(sql, `lease ${name}`)
      const lease = findLease(sql, name)
      if (lease?.token === token) putLease(sql, name, { ...lease, until: 0 })
    })
  }

  readState(key: string): Promise<JsonValue | undefined> {
    return this.#read((sql) => {
      const row = sql.get('SELECT value FROM helix_fleet_state WHERE key = ?', toSqlText(key))
      return row === undefined ? undefined : parseValue(String(row['value']))
    })
  }

  writeState(key: string, value: JsonValue): Promise<void> {
    return this.#write((sql) => sql.run(PUT_STATE, toSqlText(key), JSON.stringify(value)))
  }

  async #read<T>(work: (sql: SqlStatements) => T): Promise<T> {
    try {
      return await this.#database.read(work)
    } catch (error) {
      throw toFleetError(error)
    }
  }

  async #write<T>(work: (sql: SqlStatements) => T): Promise<T> {
    try {
      return await this.#database.write(work)
    } catch (error) {
      throw toFleetError(error)
    }
  }
}

function findLease(sql: SqlStatements, name: string): StoredLease | undefined {
  const row = sql.get(
    'SELECT holder, token, until FROM helix_fleet_leases WHERE name = ?',
    toSqlText(name),
  )
  if (row === undefined) return undefined
  const { holder, token, until } = row
  return { holder: fromSqlText(String(holder)), token: Number(token), until: Number(until) }
}

function putLease(sql: SqlStatements, name: string, { holder, token, until }: StoredLease): void {
  sql.run(PUT_LEASE, toSqlText(name), toSqlText(holder), token, until)
}

function parseValue(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text)
    return value
  } catch (error) {
    throw damaged('', error)
  }
}
