import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'

const CHUNK_BYTES = 262_144

const TABLES = [
  'CREATE TABLE raw_data (id INTEGER PRIMARY KEY, data)',
  'CREATE TABLE raw_chunks (id INTEGER PRIMARY KEY, data BLOB)',
  'CREATE TABLE raw_bodies (id INTEGER PRIMARY KEY, data BLOB)',
  `CREATE TABLE raw_meta (parent TEXT, name TEXT, id INTEGER, size INTEGER, mtime INTEGER,
    PRIMARY KEY (parent, name)) WITHOUT ROWID`,
]

/** The least SQL that does a task: no versions, no quotas, no contract. Directories end in a slash. */
export class RawFiles {
  readonly #storage: FileStoreStorage
  #bodies = 0

  constructor(storage: FileStoreStorage) {
    this.#storage = storage
    for (const table of TABLES) storage.sql.exec(table)
  }

  /** Faster than `INSERT OR REPLACE`, which takes the old row away first. */
  write(id: number, data: string | Uint8Array): void {
    this.#storage.sql.exec(
      'INSERT INTO raw_data VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data',
      id,
      data,
    )
  }

  /** As a workspace has to give them: the view costs a fifth of the statement. */
  read(id: number): Uint8Array {
    const [row] = this.#storage.sql.exec('SELECT data FROM raw_data WHERE id = ?', id).toArray()
    if (!(row?.data instanceof ArrayBuffer)) throw new Error('these are no bytes')
    return new Uint8Array(row.data)
  }

  /** Faster than a value that is stored as text. */
  readText(id: number): unknown {
    return this.#storage.sql
      .exec('SELECT CAST(data AS TEXT) AS data FROM raw_data WHERE id = ?', id)
      .toArray()
  }

  stat(parent: string, name: string): unknown {
    return this.#storage.sql
      .exec('SELECT size, mtime FROM raw_meta WHERE parent = ? AND name = ?', parent, name)
      .toArray()
  }

  /** All or nothing, like every write of a workspace. */
  writeLarge(bytes: Uint8Array, firstId = 0): void {
    const { sql } = this.#storage
    this.#storage.transactionSync(() => {
      for (let i = 0; i * CHUNK_BYTES < bytes.length; i++) {
        const chunk = bytes.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES)
        sql.exec('INSERT OR REPLACE INTO raw_chunks VALUES (?, ?)', firstId + i, chunk)
      }
    })
  }

  readLarge(size: number, firstId = 0): Uint8Array {
    const end = firstId + size / CHUNK_BYTES
    const rows = this.#storage.sql
      .exec('SELECT data FROM raw_chunks WHERE id >= ? AND id < ? ORDER BY id', firstId, end)
      .toArray()
    const whole = new Uint8Array(size)
    rows.forEach(({ data }, i) => whole.set(new Uint8Array(data as ArrayBuffer), i * CHUNK_BYTES))
    return whole
  }

  list(parent: string): unknown {
    return this.#storage.sql
      .exec('SELECT name, size FROM raw_meta WHERE parent = ? ORDER BY name', parent)
      .toArray()
  }

  glob(directory: string, pattern: string): string[] {
    const [row] = this.#storage.sql
      .exec(
        `SELECT group_concat(parent || name, char(0)) AS paths FROM raw_meta
          WHERE parent >= ? AND parent < ? AND name GLOB ?`,
        directory,
        endOf(directory),
        pattern,
      )
      .toArray()
    return typeof row?.paths === 'string' ? row.paths.split('\0') : []
  }

  search(directory: string, literal: string): unknown {
    return this.#storage.sql
      .exec(
        `SELECT m.parent, m.name FROM raw_meta m JOIN raw_bodies b ON b.id = m.id
          WHERE m.parent >= ? AND m.parent < ? AND instr(b.data, ?) > 0`,
        directory,
        endOf(directory),
        new TextEncoder().encode(literal),
      )
      .toArray()
  }

  addNamed(path: string, text: string): void {
    const { sql } = this.#storage
    const slash = path.lastIndexOf('/') + 1
    this.#bodies += 1
    const bytes = new TextEncoder().encode(text)
    sql.exec('INSERT INTO raw_bodies VALUES (?, ?)', this.#bodies, bytes)
    sql.exec(
      'INSERT INTO raw_meta VALUES (?, ?, ?, ?, 0)',
      path.slice(0, slash),
      path.slice(slash),
      this.#bodies,
      bytes.length,
    )
  }
}

/** What follows all that lies below a directory. */
function endOf(directory: string): string {
  return `${directory.slice(0, -1)}0`
}
