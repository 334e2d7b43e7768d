/**
 * `nodes` is narrow and ordered by directory, so that listings and subtrees are ranges of it and
 * never touch content. `directory` ends in a slash: all below `/a` lies between `/a/` and `/a0`.
 * A content is a run of `blocks`, whose ids start at the id of the content; each block is bytes or
 * points to an object of the bucket. `unlinked` lists contents that no node refers to yet or any
 * more, `removals` namespaces whose removal is not finished. The triggers count for the quotas, whatever changes a node; a
 * version is in use for as long as the tables are as they were.
 *
 * Versions start anywhere: what an isolate remembers, or a stream reads, of tables that were dropped
 * with the whole storage must mean nothing to those that come after them.
 */
const tables: readonly string[] = [
  `CREATE TABLE helix_fs_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
  )`,
  'INSERT INTO helix_fs_state VALUES (1, abs(random() % 16777216))',
  `CREATE TABLE helix_fs_namespaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL UNIQUE,
    -- 'workspace'; 'snapshot' and 'kept', which never change; 'fork', which no session has opened yet.
    kind TEXT NOT NULL,
    -- The namespace that was opened first, of all that were restored from it.
    line TEXT NOT NULL,
    session TEXT,
    created_ms INTEGER NOT NULL,
    -- Of the tables when it was made: orders those of a line. Ids are random, and times may be equal.
    version INTEGER NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0,
    files INTEGER NOT NULL DEFAULT 0
  )`,
  'CREATE INDEX helix_fs_namespaces_line ON helix_fs_namespaces (line)',
  'CREATE TABLE helix_fs_removals (namespace INTEGER PRIMARY KEY)',
  `CREATE TABLE helix_fs_nodes (
    namespace INTEGER NOT NULL,
    directory TEXT NOT NULL,
    name TEXT NOT NULL,
    content INTEGER,
    size INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (namespace, directory, name)
  ) WITHOUT ROWID`,
  `CREATE TABLE helix_fs_blocks (
    id INTEGER PRIMARY KEY,
    size INTEGER NOT NULL,
    object INTEGER,
    data BLOB
  )`,
  'CREATE TABLE helix_fs_shares (content INTEGER PRIMARY KEY, refs INTEGER NOT NULL)',
  `CREATE TABLE helix_fs_unlinked (
    content INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL
  )`,
  `CREATE TABLE helix_fs_objects (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    hash TEXT NOT NULL,
    key TEXT NOT NULL,
    state TEXT NOT NULL,
    refs INTEGER NOT NULL,
    due_ms INTEGER NOT NULL
  )`,
  'CREATE INDEX helix_fs_objects_hash ON helix_fs_objects (namespace, hash)',
  'CREATE INDEX helix_fs_objects_due ON helix_fs_objects (due_ms) WHERE refs = 0',
  `CREATE TRIGGER helix_fs_node_added AFTER INSERT ON helix_fs_nodes BEGIN
    UPDATE helix_fs_namespaces SET files = files + 1, bytes = bytes + NEW.size
      WHERE id = NEW.namespace;
    UPDATE helix_fs_state SET version = NEW.version WHERE version < NEW.version;
  END`,
  `CREATE TRIGGER helix_fs_node_changed AFTER UPDATE OF version ON helix_fs_nodes BEGIN
    UPDATE helix_fs_state SET version = NEW.version WHERE version < NEW.version;
  END`,
  `CREATE TRIGGER helix_fs_node_resized AFTER UPDATE OF size ON helix_fs_nodes
    WHEN NEW.size <> OLD.size BEGIN
    UPDATE helix_fs_namespaces SET bytes = bytes + NEW.size - OLD.size WHERE id = NEW.namespace;
  END`,
  `CREATE TRIGGER helix_fs_node_removed AFTER DELETE ON helix_fs_nodes BEGIN
    UPDATE helix_fs_namespaces SET files = files - 1, bytes = bytes - OLD.size
      WHERE id = OLD.namespace;
  END`,
]

/** What a write to a view fails with when the tables have another version than it was made for. */
export const OUTDATED = 'helix_fs_outdated'

const assertVersion = `SELECT RAISE(FAIL, '${OUTDATED}') FROM helix_fs_state
      WHERE version <> NEW.version - 1`

/**
 * A row for `changes` replaces the one block of a file, a row for `additions` creates a file of one
 * block: each is a whole write in one statement, atomic by itself. Both fail when the tables have
 * another version than the one before theirs, when the file is not there with its content, or when
 * something is there already; in this order, and each time before anything was changed.
 *
 * The views take no value that follows from the others, since each bound value costs a good part of
 * a microsecond. 1048576 is the number of block ids that a content has.
 */
const views: readonly string[] = [
  `CREATE VIEW helix_fs_changes AS
    SELECT namespace, flags, directory, name, content, mtime, version, NULL AS data
    FROM helix_fs_nodes`,
  `CREATE TRIGGER helix_fs_change INSTEAD OF INSERT ON helix_fs_changes BEGIN
    ${assertVersion};
    UPDATE helix_fs_nodes
      SET size = length(NEW.data), flags = NEW.flags, mtime = NEW.mtime, version = NEW.version
      WHERE namespace = NEW.namespace AND directory = NEW.directory AND name = NEW.name
        AND content = NEW.content;
    SELECT RAISE(FAIL, '${OUTDATED}') WHERE changes() = 0;
    UPDATE helix_fs_blocks SET size = length(NEW.data), data = NEW.data WHERE id = NEW.content;
  END`,
  `CREATE VIEW helix_fs_additions AS
    SELECT namespace, flags, directory, name, mtime, version, NULL AS data FROM helix_fs_nodes`,
  `CREATE TRIGGER helix_fs_addition INSTEAD OF INSERT ON helix_fs_additions BEGIN
    ${assertVersion};
    INSERT INTO helix_fs_nodes VALUES (NEW.namespace, NEW.directory, NEW.name,
      NEW.version * 1048576, length(NEW.data), 1, NEW.flags, NEW.mtime, NEW.version);
    INSERT INTO helix_fs_blocks (id, size, data)
      VALUES (NEW.version * 1048576, length(NEW.data), NEW.data);
  END`,
]

/** Everything that the file store keeps in the database of its object. */
export const version1: readonly string[] = [...tables, ...views]
