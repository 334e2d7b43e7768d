import type { Db } from 'pg-boss'
import { type ClaimAffinity, livingMachines, restrictClaim } from './claim-text.ts'
import { homeColumnStatements } from './home-column.ts'

/** The machine that a session stays with. */
export interface SessionHome {
  readonly sessionId: string
  /** Name of the machine. */
  readonly machine: string
  /** Whether a worker of the machine runs: one that drains or is silent for its lease does not count. */
  readonly isAlive: boolean
  /** Whether another machine may take a turn that has waited; its files come from its history. */
  readonly isMovable: boolean
  /** When it came to the machine, in milliseconds since the epoch. */
  readonly since: number
}

/** Any number that no other user of advisory locks in this database has. */
const LOCK = 4_711_000_020
const KEPT_DAYS = 30
/** The table that says which machine has the files of a session. */
export class SessionHomes {
  readonly #db: Db
  readonly #schema: string
  readonly #name: string

  constructor(db: Db, schema: string) {
    this.#db = db
    this.#schema = schema
    this.#name = `${schema}.helix_session_home`
  }

  async create(): Promise<void> {
    await this.#db.executeSql(
      `SELECT pg_advisory_xact_lock(${LOCK});
      CREATE TABLE IF NOT EXISTS ${this.#name} (
        session_id text PRIMARY KEY, machine text NOT NULL, movable boolean NOT NULL,
        since timestamptz NOT NULL DEFAULT now(), used_at timestamptz NOT NULL DEFAULT now()
      ) WITH (fillfactor = 80);
      CREATE INDEX IF NOT EXISTS helix_session_home_machine ON ${this.#name} (machine);
      ${homeColumnStatements({ schema: this.#schema, homes: this.#name })}`,
    )
  }

  /** A turn of the session has ended on the machine. */
  async save(home: Pick<SessionHome, 'sessionId' | 'machine' | 'isMovable'>): Promise<void> {
    await this.#db.executeSql(
      `INSERT INTO ${this.#name} AS home (session_id, machine, movable) VALUES ($1, $2, $3)
      ON CONFLICT (session_id) DO UPDATE SET machine = excluded.machine, movable = excluded.movable,
        since = CASE WHEN home.machine = excluded.machine THEN home.since ELSE now() END,
        used_at = now()`,
      [home.sessionId, home.machine, home.isMovable],
    )
  }

  /** A turn of the session begins on the machine: writes only what is not so yet. */
  async begin(home: Pick<SessionHome, 'sessionId' | 'machine' | 'isMovable'>): Promise<void> {
    await this.#db.executeSql(
      `INSERT INTO ${this.#name} AS home (session_id, machine, movable) VALUES ($1, $2, $3)
      ON CONFLICT (session_id) DO UPDATE SET machine = excluded.machine, movable = excluded.movable,
        since = now(), used_at = now() WHERE home.machine <> excluded.machine`,
      [home.sessionId, home.machine, home.isMovable],
    )
  }

  async remove(sessionId: string): Promise<void> {
    await this.#db.executeSql(`DELETE FROM ${this.#name} WHERE session_id = $1`, [sessionId])
  }

  /** Those without a turn for long: their sessions may have been deleted by a process without a queue. */
  async removeOld(): Promise<void> {
    const text = `DELETE FROM ${this.#name} WHERE used_at < now() - interval '${KEPT_DAYS} days'`
    await this.#db.executeSql(text)
  }

  /** With how long their machines count as living unless they say so again, in milliseconds. */
  async list(
    sessionIds: readonly string[],
  ): Promise<ReadonlyArray<SessionHome & { readonly aliveForMs: number }>> {
    const { rows } = await this.#db.executeSql(
      `SELECT session_id AS "sessionId", machine, movable AS "isMovable",
        alive_for IS NOT NULL AS "isAlive", coalesce(alive_for, 0)::float8 AS "aliveForMs",
        round(extract(epoch FROM since) * 1000)::float8 AS since
      FROM ${this.#name} home LEFT JOIN LATERAL (
        SELECT ceil(max(extract(epoch FROM living.until - now())) * 1000) AS alive_for
        FROM (${livingMachines(this.#schema)}) living WHERE living.machine = home.machine) living ON true
      WHERE session_id = ANY($1) ORDER BY session_id`,
      [sessionIds],
    )
    return rows
  }

  /** How many sessions stay with a machine. */
  async countOf(machine: string): Promise<number> {
    const text = `SELECT count(*)::integer AS count FROM ${this.#name} WHERE machine = $1`
    return (await this.#db.executeSql(text, [machine])).rows[0]?.count ?? 0
  }

  /** The claim of pg-boss, without turns whose sessions stay with another machine; no further round trip. */
  restrict(claim: string, affinity: ClaimAffinity): string {
    return restrictClaim(claim, { schema: this.#schema, homes: this.#name }, affinity)
  }
}
