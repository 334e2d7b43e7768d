import { trigger } from './long-text-schema.ts'

/**
 * Tables of the session store.
 *
 * The row of a session holds what every step changes, and is small. What is big, or seldom
 * changes, has a table of its own, so that no step writes it again. `state_version` and
 * `refs_version` say which row of `helix_states` and `helix_refs` is the current one, 0 for none;
 * `saved_state` and `saved_refs` which one the newest checkpoint refers to: a version that no
 * checkpoint refers to is overwritten by the next change. The first `journal_count` rows of the
 * journal count; those of a finished step stay until the next one begins.
 *
 * A text that is too long for a row is kept in `helix_texts`.
 *
 * Times are REAL, as they are in JavaScript. Tables with big values keep their rowid: a table
 * without one moves each row of a kilobyte to a page of its own.
 */
export const stateTables: readonly string[] = [
  `CREATE TABLE helix_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL UNIQUE,
    agent_type TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    step_count INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    journal_count INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    run_id TEXT,
    lease_until REAL,
    state_version INTEGER NOT NULL,
    saved_state INTEGER NOT NULL,
    refs_version INTEGER NOT NULL,
    saved_refs INTEGER NOT NULL,
    output TEXT,
    error TEXT,
    outcome TEXT,
    owed TEXT,
    -- Live requests that it asks or lists, or more: 0 means that there are none.
    asked INTEGER NOT NULL DEFAULT 0,
    -- What another process wants of the run: interrupt or abort.
    stop TEXT,
    -- JSON: what the current or last run has used.
    usage TEXT,
    -- Whether workspaces outlive their runs: 0, 1, or NULL for not specified.
    keep_workspaces INTEGER
  ) STRICT`,
  'CREATE INDEX helix_sessions_of_agent ON helix_sessions (agent_type, id)',
  'CREATE INDEX helix_sessions_of_status ON helix_sessions (status, id)',
  `CREATE TABLE helix_labels (
    session INTEGER PRIMARY KEY,
    labels TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE helix_states (
    session INTEGER NOT NULL,
    version INTEGER NOT NULL,
    value TEXT,
    PRIMARY KEY (session, version)
  ) STRICT`,
  `CREATE TABLE helix_refs (
    session INTEGER NOT NULL,
    version INTEGER NOT NULL,
    refs TEXT NOT NULL,
    PRIMARY KEY (session, version)
  ) STRICT`,
  `CREATE TABLE helix_ledgers (
    session INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    ledger TEXT NOT NULL,
    PRIMARY KEY (session, workspace)
  ) STRICT`,
  `CREATE TABLE helix_messages (
    session INTEGER NOT NULL,
    position INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (session, position)
  ) STRICT`,
  `CREATE TABLE helix_journal (
    session INTEGER NOT NULL,
    position INTEGER NOT NULL,
    tool_call_id TEXT NOT NULL,
    entry TEXT NOT NULL,
    result TEXT,
    PRIMARY KEY (session, position)
  ) STRICT`,
  `CREATE TABLE helix_checkpoints (
    session INTEGER NOT NULL,
    step_count INTEGER NOT NULL,
    checkpoint_id TEXT NOT NULL,
    message_count INTEGER NOT NULL,
    state_version INTEGER NOT NULL,
    refs_version INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (session, step_count)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE helix_runs (
    session INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at REAL NOT NULL,
    steps_before INTEGER NOT NULL,
    step_count INTEGER,
    ended_at REAL,
    PRIMARY KEY (session, turn),
    UNIQUE (session, run_id)
  ) STRICT, WITHOUT ROWID`,
]

/**
 * What the history of a session adds. A row of `helix_snapshots` holds the files of one workspace after
 * a step that changed them: without a snapshot they cannot be restored, and `missing` says why. The row
 * of step -1 says that the files are not those of the newest checkpoint. `helix_released` holds what the
 * session has let go: a ref with its workspace, or the id of a branch that was about to be made, with what
 * was about to be made for it.
 */
export const historyTables: readonly string[] = [
  `CREATE TABLE helix_snapshots (
    session INTEGER NOT NULL,
    step_count INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    snapshot TEXT,
    missing TEXT,
    created_at REAL NOT NULL,
    PRIMARY KEY (session, step_count, workspace)
  ) STRICT`,
  `CREATE TABLE helix_released (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    workspace TEXT,
    ref TEXT,
    branch TEXT,
    released_at REAL NOT NULL
  ) STRICT`,
  'CREATE INDEX helix_released_of_session ON helix_released (session, id)',
  trigger('helix_released', 'ref', 'DELETE'),
]
