import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { answer, call, toolResult } from '../session-messages.ts'

/** The least that stores a step: the same rows in the same transactions, and no contract. */
export interface RawStore {
  step(): void
  close(): void
}

const TABLES = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2000;
  CREATE TABLE session (id INTEGER PRIMARY KEY, messages INTEGER, steps INTEGER, at REAL) STRICT;
  CREATE TABLE message (session INTEGER, position INTEGER, body TEXT,
    PRIMARY KEY (session, position)) STRICT;
  CREATE TABLE journal (session INTEGER, position INTEGER, call TEXT, entry TEXT,
    PRIMARY KEY (session, position)) STRICT;
  CREATE TABLE checkpoint (session INTEGER, step INTEGER, id TEXT, messages INTEGER, at REAL,
    PRIMARY KEY (session, step)) STRICT, WITHOUT ROWID;
  INSERT INTO session VALUES (1, 0, 0, 0);`

export function openRawStore(path: string): RawStore {
  const database = new DatabaseSync(path)
  database.exec(TABLES)
  const prepare = (text: string): StatementSync => database.prepare(text)
  const begin = prepare('BEGIN IMMEDIATE')
  const commit = prepare('COMMIT')
  const grow = prepare('UPDATE session SET messages = messages + 1, at = ? WHERE id = 1')
  const finish = prepare(
    'UPDATE session SET messages = messages + 1, steps = steps + 1, at = ? WHERE id = 1',
  )
  const add = prepare('INSERT INTO message VALUES (1, ?, ?)')
  const note = prepare('INSERT INTO journal VALUES (1, 0, ?, ?)')
  const clear = prepare('DELETE FROM journal WHERE session = 1')
  const save = prepare('INSERT INTO checkpoint VALUES (1, ?, ?, ?, ?)')
  let steps = 0
  return {
    step: () => {
      const now = Date.now()
      const id = `call-${steps++}`
      begin.run()
      grow.run(now)
      clear.run()
      add.run(2 * steps, JSON.stringify(answer(id)))
      note.run(id, JSON.stringify({ toolCallId: id, ...call, startedAt: now }))
      commit.run()
      begin.run()
      finish.run(now)
      add.run(2 * steps + 1, JSON.stringify(toolResult(id)))
      save.run(steps, `cpv1-steps-s${steps}-t${now}-abcdef`, 2 * steps, now)
      commit.run()
    },
    close: () => database.close(),
  }
}
