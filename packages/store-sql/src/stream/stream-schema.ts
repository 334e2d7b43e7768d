/**
 * Tables of the streams. A stream is never given the `id` of another
 * one, also after that was deleted: who holds an `id` cannot meet a stranger.
 */
export const streamTables: readonly string[] = [
  `CREATE TABLE helix_streams (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id TEXT NOT NULL UNIQUE,
    -- The fence: how many writers the stream has had. Only the latest one writes.
    writer INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    -- Sequence number of the first chunk of the current run.
    run_start INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    -- When the last chunk of the runs before was written.
    timestamp REAL NOT NULL
  ) STRICT`,
  `CREATE TABLE helix_chunks (
    stream INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    -- Bytes of the run up to the end of this chunk.
    end_bytes INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    chunk TEXT NOT NULL,
    PRIMARY KEY (stream, sequence)
  ) STRICT, WITHOUT ROWID`,
]
