// What a soak must not let grow.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Client } from 'pg'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** What there is at one moment. */
export interface Figures {
  /** Rows of all tables. */
  readonly rows: number
  /** Bytes of all tables with their indexes, on disk. */
  readonly bytes: number
  /** Rows that are deleted or replaced, and whose room is not free yet. */
  readonly dead: number
  /** How often autovacuum has cleaned a table, since the start. */
  readonly vacuums: number
  readonly connections: number
  readonly listeners: number
  /** Of this process, after a collection. */
  readonly heapBytes: number
}

const TABLES = `SELECT relname AS name FROM pg_stat_user_tables WHERE relname LIKE 'helix%'`
const SERVER = `SELECT
  (SELECT coalesce(sum(pg_total_relation_size(relid)), 0) FROM pg_stat_user_tables)::float8 AS bytes,
  (SELECT sum(autovacuum_count) FROM pg_stat_user_tables)::float8 AS vacuums,
  (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
     AND pid <> pg_backend_pid() AND backend_type = 'client backend')::float8 AS connections,
  (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
     AND query LIKE 'LISTEN%')::float8 AS listeners`

export async function takeFigures(client: Client): Promise<Figures> {
  const { rows: tables } = await client.query<{ readonly name: string }>(TABLES)
  const counts = tables.map(({ name }) => `(SELECT count(*) FROM ${name})`).join(' + ')
  const counted = await client.query<{ readonly rows: number }>(
    `SELECT (${counts})::float8 AS rows`,
  )
  const found = await client.query<Omit<Figures, 'rows' | 'dead' | 'heapBytes'>>(SERVER)
  const [server] = found.rows
  if (server === undefined) throw new TypeError('no figures')
  const { dead } = await deadRows(client)
  collect()
  const heapBytes = process.memoryUsage().heapUsed
  return { ...server, rows: counted.rows[0]?.rows ?? Number.NaN, dead, heapBytes }
}

/** A table is cleaned when it has more dead rows than this; `late` are the tables that have. */
const LATE = `SELECT coalesce(sum(n_dead_tup), 0)::float8 AS dead,
  (count(*) FILTER (WHERE n_dead_tup > current_setting('autovacuum_vacuum_threshold')::float8 + reltuples *
    coalesce((SELECT option_value::float8 FROM pg_options_to_table(reloptions)
      WHERE option_name = 'autovacuum_vacuum_scale_factor'),
      current_setting('autovacuum_vacuum_scale_factor')::float8)))::float8 AS late
  FROM pg_stat_user_tables JOIN pg_class ON pg_class.oid = relid`

/** Dead rows of all tables, and how many tables wait for autovacuum. */
export async function deadRows(
  client: Client,
): Promise<{ readonly dead: number; readonly late: number }> {
  const { rows } = await client.query<{ readonly dead: number; readonly late: number }>(LATE)
  return rows[0] ?? { dead: Number.NaN, late: Number.NaN }
}
