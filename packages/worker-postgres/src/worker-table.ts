import type { Db } from 'pg-boss'

/** A worker as the others see it. */
export interface WorkerRow {
  readonly workerId: string
  /** Name of its machine. */
  readonly machine: string
  readonly pid: number
  readonly state: 'running' | 'draining'
  /** Ids of the sessions that it runs. */
  readonly sessions: readonly string[]
  /** Turns at a time. */
  readonly concurrency: number
  /** Silent for longer, in milliseconds, it counts as gone: its lease. */
  readonly lostAfterMs: number
  /** Sessions that it took over from machines that died. */
  readonly takeovers: number
  /** Time since it last said so, in milliseconds: of a dead or frozen one it grows. */
  readonly silentMs: number
}

/** Any number that no other user of advisory locks in this database has. */
const LOCK = 4_711_000_018

/** How long a worker of a release that does not say it may be silent. */
const LOST_AFTER_MS = 60_000

/** The table in which workers say that they live, and what they run: sessions stay with those that live. */
export class WorkerTable {
  readonly #db: Db
  readonly #name: string

  constructor(db: Db, schema: string) {
    this.#db = db
    this.#name = `${schema}.helix_worker`
  }

  /** Two processes that make a table at once would disturb each other. */
  async create(): Promise<void> {
    await this.#db.executeSql(
      `SELECT pg_advisory_xact_lock(${LOCK});
      CREATE TABLE IF NOT EXISTS ${this.#name} (
        worker_id text PRIMARY KEY, machine text NOT NULL, pid integer NOT NULL, state text NOT NULL,
        sessions jsonb NOT NULL, concurrency integer NOT NULL, takeovers integer NOT NULL,
        seen_at timestamptz NOT NULL DEFAULT now());
      ALTER TABLE ${this.#name}
        ADD COLUMN IF NOT EXISTS lost_after_ms integer NOT NULL DEFAULT ${LOST_AFTER_MS}`,
    )
  }

  async save(row: Omit<WorkerRow, 'silentMs'>): Promise<void> {
    const { workerId, machine, pid, state, sessions, concurrency, takeovers, lostAfterMs } = row
    await this.#db.executeSql(
      `INSERT INTO ${this.#name} (
        worker_id, machine, pid, state, sessions, concurrency, takeovers, lost_after_ms)
      VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8)
      ON CONFLICT (worker_id) DO UPDATE SET state = excluded.state, sessions = excluded.sessions,
        takeovers = excluded.takeovers, seen_at = now()`,
      [
        workerId,
        machine,
        pid,
        state,
        JSON.stringify(sessions),
        concurrency,
        takeovers,
        lostAfterMs,
      ],
    )
  }

  async remove(workerId: string): Promise<void> {
    await this.#db.executeSql(
      `DELETE FROM ${this.#name} WHERE worker_id = $1 OR seen_at < now() - interval '1 hour'`,
      [workerId],
    )
  }

  async list(): Promise<readonly WorkerRow[]> {
    const { rows } = await this.#db.executeSql(
      `SELECT worker_id AS "workerId", machine, pid, state, sessions, concurrency, takeovers,
        lost_after_ms AS "lostAfterMs", round(extract(epoch FROM now() - seen_at) * 1000)::integer AS "silentMs"
      FROM ${this.#name} WHERE seen_at > now() - interval '1 hour' ORDER BY machine, worker_id`,
    )
    return rows
  }
}
