import type { Db } from 'pg-boss'

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

/** What a claim of turns heeds. */
export interface ClaimAffinity {
  /** Name of the machine that claims. */
  readonly machine: string
  /** How long a turn of a movable session waits for its machine, in milliseconds. */
  readonly waitMs: number
}

/** Any number that no other user of advisory locks in this database has. */
const LOCK = 4_711_000_020
const KEPT_DAYS = 30
/** In the claim of pg-boss, once: its conditions for the turn `j`. */
const MARKER = 'NOT j.blocked'

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
      CREATE INDEX IF NOT EXISTS helix_session_home_machine ON ${this.#name} (machine)`,
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

  async remove(sessionId: string): Promise<void> {
    await this.#db.executeSql(`DELETE FROM ${this.#name} WHERE session_id = $1`, [sessionId])
  }

  /** Those without a turn for long: their sessions may have been deleted by a process without a queue. */
  async removeOld(): Promise<void> {
    const text = `DELETE FROM ${this.#name} WHERE used_at < now() - interval '${KEPT_DAYS} days'`
    await this.#db.executeSql(text)
  }

  async list(sessionIds: readonly string[]): Promise<readonly SessionHome[]> {
    const { rows } = await this.#db.executeSql(
      `SELECT session_id AS "sessionId", machine, movable AS "isMovable",
        machine IN (${this.#living()}) AS "isAlive",
        extract(epoch FROM since)::float8 * 1000 AS since
      FROM ${this.#name} WHERE session_id = ANY($1) ORDER BY session_id`,
      [sessionIds],
    )
    return rows.map((row: SessionHome) => ({ ...row, since: Math.round(row.since) }))
  }

  /** How many sessions stay with a machine. */
  async countOf(machine: string): Promise<number> {
    const text = `SELECT count(*)::integer AS count FROM ${this.#name} WHERE machine = $1`
    return (await this.#db.executeSql(text, [machine])).rows[0]?.count ?? 0
  }

  /**
   * The claim of pg-boss, without turns whose sessions stay with another machine. It takes no further
   * round trip: one look at the primary key for each turn that it checks.
   */
  restrict(claim: string, { machine, waitMs }: ClaimAffinity): string {
    const parts = claim.split(MARKER)
    if (parts.length !== 2) throw new TypeError('the claim of pg-boss has another form')
    // As bytes: nothing of a name can end the text.
    const here = `convert_from('\\x${Buffer.from(machine).toString('hex')}'::bytea, 'UTF8')`
    const waits = `greatest(j.created_on, j.start_after, home.used_at)`
    return parts.join(`${MARKER} AND coalesce((
      SELECT home.machine = ${here}
        OR home.machine <> ALL (ARRAY(${this.#living()}))
        OR (home.movable AND ${waits} + ${waitMs} * interval '1 millisecond' <= now())
      FROM ${this.#name} home WHERE home.session_id = j.singleton_key), true)`)
  }

  /** The names of the machines that run turns. */
  #living(): string {
    return `SELECT worker.machine FROM ${this.#schema}.helix_worker worker
      WHERE worker.state = 'running'
        AND worker.seen_at + worker.lost_after_ms * interval '1 millisecond' > now()`
  }
}
