import type { SqlRow, SqlStatements, SqlValue } from '../../sql-database.ts'
import { damaged, numberColumn, textColumn } from './column.ts'

/**
 * UTF-16 units of a text in one row; a longer one is kept in pieces. A row of a Durable Object
 * takes 2 000 000 bytes, a unit is up to three of them, and a row has up to three such texts.
 */
export const PIECE_LENGTH = 192 * 1024

/** First character of a column whose text is kept in pieces: no JSON and no `toSqlText` has it. */
const MARK = '~'
const MARK_CODE = MARK.charCodeAt(0)

const NEXT_ID = 'SELECT coalesce(max(text_id), 0) + 1 AS text_id FROM helix_texts'
const ADD_PIECE = 'INSERT INTO helix_texts (text_id, position, piece) VALUES (?, ?, ?)'
const PIECES = 'SELECT piece FROM helix_texts WHERE text_id = ? ORDER BY position'

/**
 * What a column of any JSON holds: the text itself, or, for a long one, where its pieces are. A row
 * of a server takes any text.
 */
export function keepText(sql: SqlStatements, text: string): string
export function keepText(sql: SqlStatements, text: string | null): string | null
export function keepText(sql: SqlStatements, text: string | null): string | null {
  if (text === null || text.length <= PIECE_LENGTH || sql.server !== undefined) return text
  const row = sql.get(NEXT_ID)
  if (row === undefined) throw damaged('texts')
  const id = numberColumn(row, 'text_id')
  let position = 0
  for (let start = 0; start < text.length; position++) {
    const piece = pieceAt(text, start)
    sql.run(ADD_PIECE, id, position, piece)
    start += piece.length
  }
  return `${MARK}${id}:${text.length}`
}

/** Never ends within a pair of surrogates: half a character has no UTF-8. */
function pieceAt(text: string, start: number): string {
  const end = start + PIECE_LENGTH
  const last = text.charCodeAt(end - 1)
  const isHalf = end < text.length && last >= 0xd800 && last <= 0xdbff
  return text.slice(start, isHalf ? end - 1 : end)
}

/** Statements whose rows have their long texts as a whole. */
export function withWholeTexts(sql: SqlStatements): SqlStatements {
  return sql.server === undefined ? new WholeTexts(sql) : sql
}

class WholeTexts implements SqlStatements {
  readonly #sql: SqlStatements

  constructor(sql: SqlStatements) {
    this.#sql = sql
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    this.#sql.run(statement, ...values)
  }

  get(statement: string, ...values: readonly SqlValue[]): SqlRow | undefined {
    const row = this.#sql.get(statement, ...values)
    return row === undefined ? undefined : this.#whole(row)
  }

  all(statement: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#sql.all(statement, ...values).map((row) => this.#whole(row))
  }

  #whole(row: SqlRow): SqlRow {
    for (const name in row) if (isKept(row[name] ?? null)) return this.#loadAll(row)
    return row
  }

  #loadAll(row: SqlRow): SqlRow {
    const kept = Object.entries(row).filter(([, value]) => isKept(value))
    const whole = kept.map(([name, value]) => [name, this.#load(String(value), name)])
    return { ...row, ...Object.fromEntries(whole) }
  }

  #load(mark: string, name: string): string {
    const [id, length] = mark.slice(1).split(':').map(Number)
    const rows = this.#sql.all(PIECES, id ?? Number.NaN)
    const text = rows.map((row) => textColumn(row, 'piece')).join('')
    if (text.length !== length) throw damaged(name)
    return text
  }
}

function isKept(value: SqlValue): boolean {
  return typeof value === 'string' && value.charCodeAt(0) === MARK_CODE
}
