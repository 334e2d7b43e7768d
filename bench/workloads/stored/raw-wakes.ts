import { Client } from 'pg'

const WAKES = 200
const INSERT = 'INSERT INTO raw_wakes (chunk) VALUES ($1)'
const SELECT = 'SELECT chunk FROM raw_wakes WHERE id > $1 ORDER BY id'

/**
 * The least between a write and its reader: an autocommit, a notification and a read by `pg` alone, one
 * chunk at a time.
 * @returns milliseconds of each
 */
export async function rawWakes(url: string): Promise<number[]> {
  const [writer, reader] = [new Client(url), new Client(url)]
  await Promise.all([writer.connect(), reader.connect()])
  await writer.query('CREATE TABLE raw_wakes (id bigserial PRIMARY KEY, chunk text)')
  await reader.query('LISTEN raw_wakes')
  const lags: number[] = []
  for (let wake = 0; wake < WAKES; wake++) {
    const heard = new Promise((resolve) => reader.once('notification', resolve))
    const startedAt = performance.now()
    await writer.query({ name: 'insert', text: INSERT, values: [`chunk ${wake}`] })
    await writer.query("SELECT pg_notify('raw_wakes', '')")
    await heard
    await reader.query({ name: 'select', text: SELECT, values: [wake] })
    lags.push(performance.now() - startedAt)
  }
  await Promise.all([writer.end(), reader.end()])
  return lags
}
