import { Pool } from 'pg'

/** What the tool of the agents changes in the world: rows, so that they can be counted. */
export interface Effects {
  /** Has an effect once: its key is what makes a repetition harmless. */
  record(sessionId: string, number: number): Promise<void>
  /** How many files the workspace of a session has. */
  noteFiles(sessionId: string, files: number): Promise<void>
  /** The files of a session came back on another machine. */
  noteRestored(sessionId: string): Promise<void>
  /** Steps of each session by machine, and how often an effect was asked for in all. */
  summary(): Promise<EffectSummary>
  close(): Promise<void>
}

export interface EffectSummary {
  readonly attempts: number
  /** Files of all workspaces, when they were checked last. */
  readonly files: number
  /** How often files came back on another machine. */
  readonly restored: number
  readonly bySession: ReadonlyMap<string, Readonly<Record<string, number>>>
}

const TABLES = `
  SELECT pg_advisory_xact_lock(4711);
  CREATE TABLE IF NOT EXISTS effect (
    session_id text, number integer, machine text NOT NULL, PRIMARY KEY (session_id, number));
  CREATE TABLE IF NOT EXISTS desk (session_id text PRIMARY KEY, files integer NOT NULL);
  CREATE TABLE IF NOT EXISTS restored (session_id text NOT NULL);
  CREATE TABLE IF NOT EXISTS attempt (session_id text NOT NULL, number integer NOT NULL);`

export async function openEffects(connectionString: string, machine: string): Promise<Effects> {
  const pool = new Pool({ connectionString, max: 4 })
  // A connection that is cut while it is idle is replaced by the next call.
  pool.on('error', () => undefined)
  await pool.query(TABLES)
  return {
    record: async (sessionId, number) => {
      await pool.query(
        `WITH asked AS (INSERT INTO attempt VALUES ($1, $2))
        INSERT INTO effect VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
        [sessionId, number, machine],
      )
    },
    noteFiles: async (sessionId, files) => {
      await pool.query(
        `INSERT INTO desk VALUES ($1, $2)
        ON CONFLICT (session_id) DO UPDATE SET files = excluded.files`,
        [sessionId, files],
      )
    },
    noteRestored: async (sessionId) => {
      await pool.query('INSERT INTO restored VALUES ($1)', [sessionId])
    },
    summary: async () => {
      const [attempts, files, restored, effects] = await Promise.all([
        pool.query<{ count: string }>('SELECT count(*) FROM attempt'),
        pool.query<{ sum: string | null }>('SELECT sum(files) FROM desk'),
        pool.query<{ count: string }>('SELECT count(*) FROM restored'),
        pool.query<{ session_id: string; machines: Record<string, number> }>(
          `SELECT session_id, jsonb_object_agg(machine, steps) AS machines FROM (
            SELECT session_id, machine, count(*) AS steps FROM effect GROUP BY 1, 2) AS counted
          GROUP BY 1`,
        ),
      ])
      const bySession = effects.rows.map((row) => [row.session_id, row.machines] as const)
      return {
        attempts: Number(attempts.rows[0]?.count),
        files: Number(files.rows[0]?.sum ?? 0),
        restored: Number(restored.rows[0]?.count),
        bySession: new Map(bySession),
      }
    },
    close: () => pool.end(),
  }
}
