import { Client } from 'pg'
import { answer, call, toolResult } from '../session-messages.ts'

/** The least that stores a step on a server: the same rows in the same transactions, and no contract. */
export interface RawServerStore {
  step(): Promise<void>
  close(): Promise<void>
}

const TABLES = `
  CREATE TABLE raw_session (id bigint PRIMARY KEY, messages bigint, steps bigint, at float8);
  CREATE TABLE raw_message (session bigint, position bigint, body text, PRIMARY KEY (session, position));
  CREATE TABLE raw_journal (session bigint, position bigint, call text, entry text,
    PRIMARY KEY (session, position));
  CREATE TABLE raw_checkpoint (session bigint, step bigint, id text, messages bigint, at float8,
    PRIMARY KEY (session, step));
  INSERT INTO raw_session VALUES (1, 0, 0, 0);`

const GROW = 'UPDATE raw_session SET messages = messages + 1, at = $1 WHERE id = 1'
const FINISH =
  'UPDATE raw_session SET messages = messages + 1, steps = steps + 1, at = $1 WHERE id = 1'
const CLEAR = 'DELETE FROM raw_journal WHERE session = 1'
const ADD = 'INSERT INTO raw_message VALUES (1, $1, $2)'
const NOTE = 'INSERT INTO raw_journal VALUES (1, 0, $1, $2)'
const SAVE = 'INSERT INTO raw_checkpoint VALUES (1, $1, $2, $3, $4)'

export async function openRawServerStore(url: string): Promise<RawServerStore> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(TABLES)
  const names = new Map<string, string>()
  const run = async (text: string, ...values: readonly unknown[]): Promise<void> => {
    const name = names.get(text) ?? `raw_${names.size}`
    names.set(text, name)
    await client.query({ name, text, values: [...values] })
  }
  let steps = 0
  return {
    step: async () => {
      const now = Date.now()
      const id = `call-${steps++}`
      await client.query('BEGIN')
      await run(GROW, now)
      await run(CLEAR)
      await run(ADD, 2 * steps, JSON.stringify(answer(id)))
      await run(NOTE, id, JSON.stringify({ toolCallId: id, ...call, startedAt: now }))
      await client.query('COMMIT')
      await client.query('BEGIN')
      await run(FINISH, now)
      await run(ADD, 2 * steps + 1, JSON.stringify(toolResult(id)))
      await run(SAVE, steps, `cpv1-steps-s${steps}-t${now}-abcdef`, 2 * steps, now)
      await client.query('COMMIT')
    },
    close: () => client.end(),
  }
}
