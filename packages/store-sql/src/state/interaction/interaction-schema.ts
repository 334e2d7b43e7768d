/**
 * Tables of requests to people and of queued messages.
 *
 * A request is of the session `asking`, and `session` lists it: the root of its sub-agents. What
 * never changes of it is JSON in `request`. `is_live` is 1 as long as its call has no result; an open
 * request is live. A delivered or removed message leaves its id, so that it is not queued again.
 */
export const interactionTables: readonly string[] = [
  `CREATE TABLE helix_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL,
    asking INTEGER NOT NULL,
    tool_call_id TEXT NOT NULL,
    is_live INTEGER NOT NULL,
    request TEXT NOT NULL,
    expires_at REAL,
    -- NULL while it is open; the whole of it is JSON in resolution.
    decision TEXT,
    resolution TEXT,
    -- The subject of an approval that holds for the rest of the session.
    remembered TEXT,
    started_at REAL,
    replaced_by TEXT
  ) STRICT`,
  'CREATE INDEX helix_requests_of_session ON helix_requests (session)',
  'CREATE INDEX helix_requests_of_asking ON helix_requests (asking, is_live)',
  'CREATE INDEX helix_requests_live ON helix_requests (session) WHERE is_live = 1',
  'CREATE INDEX helix_requests_open ON helix_requests (id) WHERE decision IS NULL',
  'CREATE INDEX helix_requests_remembered ON helix_requests (session, remembered)' +
    ' WHERE remembered IS NOT NULL',
  `CREATE TABLE helix_inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    delivery TEXT NOT NULL,
    created_at REAL NOT NULL,
    -- NULL once it was delivered or removed.
    message TEXT,
    UNIQUE (session, message_id)
  ) STRICT`,
  'CREATE INDEX helix_inbox_queued ON helix_inbox (session) WHERE message IS NOT NULL',
]
