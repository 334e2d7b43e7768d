/**
 * Tables of the streams. A stream is never given the `id` of another one, also after that was
 * deleted: readers and cached pages of the process know a stream by its `id`.
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

/**
 * Makes the first `id` random, since an erased Durable Object makes these tables once more in the
 * same process.
 */
export const streamSeed: readonly string[] = [
  `INSERT INTO helix_streams (id, stream_id, writer, is_open, run_start, agent_id, agent_type, timestamp)
   VALUES (abs(random() % 1000000000000) + 1, '', 1, 0, 1, '', '', 0)`,
  'DELETE FROM helix_streams',
]
