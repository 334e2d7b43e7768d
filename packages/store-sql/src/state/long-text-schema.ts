/**
 * Where long texts are kept in pieces. A column that holds `~id:length`
 * stands for the pieces of that id, and they go with it: triggers remove them, so that no
 * statement has to ask whether a text was long.
 */
const TEXTS = `CREATE TABLE helix_texts (
    text_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    piece TEXT NOT NULL,
    PRIMARY KEY (text_id, position)
  ) STRICT`

/** Tables with texts that may be long, and which of them are ever overwritten. */
const COLUMNS: readonly (readonly [table: string, column: string, isOverwritten: boolean])[] = [
  ['helix_sessions', 'output', true],
  ['helix_sessions', 'error', true],
  ['helix_sessions', 'outcome', true],
  ['helix_sessions', 'owed', true],
  ['helix_labels', 'labels', false],
  ['helix_states', 'value', true],
  ['helix_refs', 'refs', true],
  ['helix_ledgers', 'ledger', true],
  ['helix_messages', 'message', false],
  ['helix_journal', 'entry', false],
  ['helix_journal', 'result', true],
  ['helix_requests', 'request', false],
  ['helix_requests', 'resolution', false],
  ['helix_inbox', 'message', true],
]

export const longTextTables: readonly string[] = [
  TEXTS,
  ...COLUMNS.flatMap(([table, column, isOverwritten]) => [
    trigger(table, column, 'DELETE'),
    ...(isOverwritten ? [trigger(table, column, `UPDATE OF ${column}`)] : []),
  ]),
]

/** Removes the pieces of a column with its row, or with its old text. */
export function trigger(table: string, column: string, event: string): string {
  const [word] = event.toLowerCase().split(' ')
  return `CREATE TRIGGER ${table}_${column}_${word} AFTER ${event} ON ${table}
    WHEN substr(old.${column}, 1, 1) = '~'
    BEGIN
      DELETE FROM helix_texts WHERE text_id = CAST(substr(old.${column}, 2) AS INTEGER);
    END`
}
