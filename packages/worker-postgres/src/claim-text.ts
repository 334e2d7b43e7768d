import { HOME_COLUMN, type HomeTables, MOVABLE, NO_HOME } from './home-column.ts'

/** What a claim of turns heeds. */
export interface ClaimAffinity {
  /** Name of the machine that claims. */
  readonly machine: string
  /** How long a turn of a movable session waits for its machine, in milliseconds. */
  readonly waitMs: number
}

/** How a claim of several turns finds the first one of each session: it names no order. */
const FIRST = 'OVER (PARTITION BY singleton_key)'

/** The part of a claim of pg-boss that chooses turns: columns, table, conditions, order, number. */
const NEXT =
  /next AS \(\s+SELECT (.+?)\s+FROM (\S+) j\s+WHERE (.+?)\s+ORDER BY j\.priority desc, j\.created_on\s+LIMIT (\S+)\s+FOR UPDATE OF j SKIP LOCKED\s+\)/s

/**
 * The claim of pg-boss, without turns whose sessions stay with another machine. Its turns stand at places:
 * one for each machine, and one for all. It takes the first turns of each place at which this machine may
 * claim, and of these the first: how many wait at other places does not matter.
 */
export function restrictClaim(claim: string, tables: HomeTables, affinity: ClaimAffinity): string {
  const parts = NEXT.exec(claim)
  if (parts === null) throw new TypeError('the claim of pg-boss has another form')
  const [text, columns = '', table = '', conditions = '', limit = ''] = parts
  const next = `next AS (
    SELECT ${columns}, j.priority, j.created_on
    FROM (${placesOf(table, tables, affinity)}) place CROSS JOIN LATERAL (
      SELECT j.id, j.singleton_key, j.group_id, j.group_tier, j.priority, j.created_on
      FROM ${table} j
      WHERE ${conditions}
        AND j.${HOME_COLUMN} BETWEEN place.home AND place.home
        AND j.created_on <= place.until AND j.start_after <= place.until
        AND ${isNext(table)}
        AND ${mayClaim(tables, affinity)}
      ORDER BY j.${HOME_COLUMN}, j.priority DESC, j.created_on
      LIMIT ${limit}
      FOR UPDATE OF j SKIP LOCKED
    ) j
    ORDER BY j.priority DESC, j.created_on
    LIMIT ${limit}
  )`
  return claim
    .replace(text, () => next)
    .replace(FIRST, 'OVER (PARTITION BY singleton_key ORDER BY priority DESC, created_on)')
}

/** The places at which the machine may claim, each with the time until which its turns must be there. */
function placesOf(
  table: string,
  { schema }: HomeTables,
  { machine, waitMs }: ClaimAffinity,
): string {
  return `WITH RECURSIVE known(home) AS (
      SELECT '${NO_HOME}' COLLATE "C"
      UNION ALL
      SELECT (SELECT j.${HOME_COLUMN} FROM ${table} j
        WHERE j.name = 'turns' AND j.state < 'active' AND NOT j.blocked AND j.${HOME_COLUMN} > known.home
        ORDER BY j.${HOME_COLUMN} LIMIT 1)
      FROM known WHERE known.home IS NOT NULL
    )
    SELECT home, CASE WHEN is_free THEN 'infinity' ELSE now() - ${waitMs} * interval '1 ms' END AS until
    FROM known, LATERAL (SELECT home = '${NO_HOME}' OR substr(home, 2) = ${textOf(machine)}
      OR substr(home, 2) <> ALL (ARRAY(SELECT machine FROM (${livingMachines(schema)}) living)) AS is_free) place
    WHERE home IS NOT NULL AND (is_free OR starts_with(home, '${MOVABLE}'))`
}

/** Whether no other turn of its session was claimed before, and comes again: that one goes first. */
function isNext(table: string): string {
  return `(j.state = 'retry' OR coalesce((
    SELECT false FROM ${table} again WHERE again.name = 'turns' AND again.state < 'active'
      AND again.state = 'retry' AND again.singleton_key = j.singleton_key LIMIT 1), true))`
}

/** Whether the home of the session of the turn `j` allows it; its place may be older than that. */
function mayClaim({ schema, homes }: HomeTables, { machine, waitMs }: ClaimAffinity): string {
  return `coalesce((
    SELECT home.machine = ${textOf(machine)}
      OR home.machine <> ALL (ARRAY(SELECT machine FROM (${livingMachines(schema)}) living))
      OR (home.movable AND greatest(j.created_on, j.start_after, home.used_at)
        + ${waitMs} * interval '1 ms' <= now())
    FROM ${homes} home WHERE home.session_id = j.singleton_key), true)`
}

/** SQL for the machines that run turns, by worker, and until when they count as living. */
export function livingMachines(schema: string): string {
  const until = `worker.seen_at + worker.lost_after_ms * interval '1 ms'`
  return `SELECT worker.machine, ${until} AS until FROM ${schema}.helix_worker worker
    WHERE worker.state = 'running' AND ${until} > now()`
}

/** As bytes: nothing of a name can end the text. */
function textOf(name: string): string {
  return `convert_from('\\x${Buffer.from(name).toString('hex')}'::bytea, 'UTF8')`
}
