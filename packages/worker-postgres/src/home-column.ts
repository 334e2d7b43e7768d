/** Where the tables of a queue are. */
export interface HomeTables {
  readonly schema: string
  /** Name of the table of homes, with its schema. */
  readonly homes: string
}

/** In `job`: the place at which a waiting turn stands; see {@link placeOf}. */
export const HOME_COLUMN = 'helix_home'

/** The place of turns that any machine may claim. */
export const NO_HOME = ''
/** Before the name of a machine: its turns wait for it while it lives. */
export const FIXED = 'f'
/** Before the name of a machine: its turns wait for it for a while. */
export const MOVABLE = 'm'

/** SQL for the place of the turns of a row of homes. */
function placeOf(home: string): string {
  return `CASE WHEN ${home}.movable THEN '${MOVABLE}' ELSE '${FIXED}' END || ${home}.machine`
}

/**
 * Statements that keep the home of a session in its waiting turns as well, so that a claim finds the turns
 * of a place by an index and does not look at those of others. Triggers do it, in the transaction that
 * changes the one or the other: a turn is stored by pg-boss, anew for each retry.
 *
 * A turn that names a machine is right: who stores it holds its row of homes until then. One that names none
 * may have got a home at that moment; so a claim looks at the homes of what it takes.
 */
export function homeColumnStatements({ schema, homes }: HomeTables): string {
  return `${turnFunction({ schema, homes })};
    ${homeFunction({ schema, homes })};
    DO $do$ BEGIN
      IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = '${schema}.job'::regclass
        AND attname = '${HOME_COLUMN}' AND NOT attisdropped) THEN RETURN; END IF;
      ALTER TABLE ${schema}.job
        ADD COLUMN ${HOME_COLUMN} text COLLATE "C" NOT NULL DEFAULT '${NO_HOME}';
      CREATE TRIGGER helix_turn_home BEFORE INSERT OR UPDATE OF state ON ${schema}.job
        FOR EACH ROW WHEN (NEW.state < 'active' AND NEW.singleton_key IS NOT NULL)
        EXECUTE FUNCTION ${schema}.helix_turn_home();
      CREATE TRIGGER helix_home_turns AFTER INSERT OR UPDATE OR DELETE ON ${homes}
        FOR EACH ROW EXECUTE FUNCTION ${schema}.helix_home_turns();
      UPDATE ${schema}.job SET ${HOME_COLUMN} = ${placeOf('home')}
        FROM ${homes} home WHERE home.session_id = singleton_key AND state < 'active';
      CREATE INDEX helix_job_home
        ON ${schema}.job (name, ${HOME_COLUMN}, priority DESC, created_on, start_after)
        WHERE state < 'active' AND NOT blocked;
    END $do$`
}

function turnFunction({ schema, homes }: HomeTables): string {
  return `CREATE OR REPLACE FUNCTION ${schema}.helix_turn_home() RETURNS trigger
    LANGUAGE plpgsql AS $function$ BEGIN
      NEW.${HOME_COLUMN} := coalesce((
        SELECT ${placeOf('home')} FROM ${homes} home
        WHERE home.session_id = NEW.singleton_key FOR SHARE), '${NO_HOME}');
      RETURN NEW;
    END $function$`
}

/** Locks the turns in the order of their ids, as a cancellation does: the two do not wait for each other. */
function homeFunction({ schema }: HomeTables): string {
  return `CREATE OR REPLACE FUNCTION ${schema}.helix_home_turns() RETURNS trigger
    LANGUAGE plpgsql AS $function$
    DECLARE
      session text := coalesce(NEW.session_id, OLD.session_id);
      place text COLLATE "C" := coalesce(${placeOf('NEW')}, '${NO_HOME}');
    BEGIN
      UPDATE ${schema}.job SET ${HOME_COLUMN} = place WHERE id IN (
        SELECT id FROM ${schema}.job WHERE name = 'turns' AND singleton_key = session
          AND state < 'active' AND ${HOME_COLUMN} <> place ORDER BY id FOR UPDATE)
        AND name = 'turns';
      RETURN NULL;
    END $function$`
}
