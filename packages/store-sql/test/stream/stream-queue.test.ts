import { SqlError, type SqlDatabase, type SqlStatements } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { StreamQueue, type StreamTask } from '../../src/stream/stream-queue.ts'
import { StreamSignals } from '../../src/stream/stream-signals.ts'
import { openDatabase } from '../node-database.ts'
import { WatchedDatabase } from '../watched-database.ts'
import { settled } from './script.ts'

interface Given {
  readonly isReplaced?: boolean
  readonly changes?: boolean
  readonly fails?: (sql: SqlStatements) => void
}

/** A queue, whose tasks note what they do; each adds a row with its name. */
async function open() {
  const database = new WatchedDatabase(openDatabase())
  await database.write((sql) => sql.run('CREATE TABLE names (name TEXT)'))
  database.writes = 0
  const signals = StreamSignals.of(database)
  const queue = new StreamQueue(database, signals)
  const log: string[] = []
  const errors = new Map<string, unknown>()
  const task = (name: string, stream: number, given: Given = {}): StreamTask => ({
    streamId: `s${stream}`,
    run: (sql) => {
      sql.run('INSERT INTO names VALUES (?)', name)
      given.fails?.(sql)
      const { isReplaced = false, changes = true } = given
      return changes ? { stream, isReplaced } : undefined
    },
    settle: () => void log.push(`settled ${name}`),
    fail: (error) => {
      errors.set(name, error)
      log.push(`failed ${name}`)
    },
  })
  const wait = (stream: number): void => {
    signals.wait(stream, { wake: () => void log.push(`woken ${stream}`) })
  }
  return { database, signals, queue, log, errors, task, wait }
}

const namesOf = (database: SqlDatabase): Promise<unknown[]> =>
  database.read((sql) => sql.all('SELECT name FROM names ORDER BY rowid').map(({ name }) => name))

test('tasks of one turn share a transaction; readers are woken before the tasks settle', async () => {
  const { database, signals, queue, log, task, wait } = await open()
  for (const stream of [1, 2, 3]) wait(stream)
  const [a, b, c] = [task('a', 1), task('b', 2), task('c', 1)]
  expect(queue.last).toBeUndefined()
  queue.add(a)
  queue.add(b)
  expect(queue.last).toBe(b)
  queue.add(c)
  await settled()
  expect(queue.last).toBeUndefined()
  expect([database.writes, await namesOf(database)]).toEqual([1, ['a', 'b', 'c']])
  expect(log).toEqual(['woken 1', 'woken 2', 'settled a', 'settled b', 'settled c'])
  expect(signals.replacements).toBe(0)
})

test('tasks that come while a transaction is under way share the next one', async () => {
  const { database, queue, log, task } = await open()
  const { promise, resolve } = Promise.withResolvers<void>()
  database.gate = promise
  const first = task('a', 1)
  queue.add(first)
  await settled()
  expect(queue.last).toBeUndefined()
  queue.add(task('b', 1))
  queue.add(task('c', 2))
  await settled()
  expect([database.writes, log]).toEqual([0, []])
  expect(queue.last?.streamId).toBe('s2')
  resolve()
  await settled()
  expect([database.writes, log]).toEqual([2, ['settled a', 'settled b', 'settled c']])
  queue.add(task('d', 1))
  await settled()
  expect([database.writes, log.at(-1)]).toEqual([3, 'settled d'])
})

test('what readers hold is out of date once a change says so', async () => {
  const { signals, queue, task, log, wait } = await open()
  wait(1)
  queue.add(task('a', 1, { changes: false }))
  await settled()
  expect([signals.replacements, log]).toEqual([0, ['settled a']])
  queue.add(task('b', 1))
  queue.add(task('c', 2, { isReplaced: true }))
  queue.add(task('d', 3, { isReplaced: true }))
  await settled()
  expect(signals.replacements).toBe(1)
})

const failsAs = (kind: ConstructorParameters<typeof SqlError>[0]) => () => {
  throw new SqlError(kind, 'it fails')
}

test.each(['corrupt', 'failed'] as const)(
  'what is %s of one stream does not disturb the others, and is told to each of its tasks',
  async (kind) => {
    const { database, queue, log, errors, task, wait } = await open()
    wait(1)
    wait(2)
    queue.add(task('a', 1))
    queue.add(task('b', 2, { fails: failsAs(kind) }))
    queue.add(task('c', 1))
    queue.add(task('d', 2))
    queue.add(task('e', 3))
    await settled()
    expect(await namesOf(database)).toEqual(['a', 'c', 'e'])
    const settledTasks = ['settled a', 'settled c']
    expect(log).toEqual(['woken 1', ...settledTasks, 'failed b', 'failed d', 'settled e'])
    expect(errors.get('b')).toMatchObject({ kind })
    expect(errors.get('d')).toBe(errors.get('b'))
    expect(database.writes).toBe(4)
  },
)

test('an error that is none of the database is tried apart too', async () => {
  const { database, queue, log, errors, task } = await open()
  const error = new TypeError('mine')
  const fails = (): never => {
    throw error
  }
  queue.add(task('a', 1, { fails }))
  queue.add(task('b', 2))
  await settled()
  expect([log, await namesOf(database)]).toEqual([['failed a', 'settled b'], ['b']])
  expect(errors.get('a')).toBe(error)
})

test.each(['full', 'busy', 'io', 'closed', 'read-only'] as const)(
  'a database that is %s fails all at once, and may go on later',
  async (kind) => {
    const { database, queue, log, task } = await open()
    database.failure = failsAs(kind)
    queue.add(task('a', 1))
    queue.add(task('b', 2))
    await settled()
    expect([database.writes, log]).toEqual([1, ['failed a', 'failed b']])
    database.failure = undefined
    expect(await namesOf(database)).toEqual([])
    queue.add(task('c', 1))
    await settled()
    expect([log.at(-1), await namesOf(database)]).toEqual(['settled c', ['c']])
  },
)

test('what fails of a single stream is not tried again', async () => {
  const { database, queue, log, task } = await open()
  database.failure = failsAs('corrupt')
  queue.add(task('a', 1))
  queue.add(task('b', 1))
  await settled()
  expect([database.writes, log]).toEqual([1, ['failed a', 'failed b']])
})

test('others are tried one after the other, and tasks that come meanwhile wait for them', async () => {
  const { database, queue, log, task } = await open()
  const { promise, resolve } = Promise.withResolvers<void>()
  const closeGate = (): never => {
    database.gate = promise
    throw new SqlError('corrupt', 'it fails')
  }
  database.asked = 0
  queue.add(task('a', 1, { fails: closeGate }))
  queue.add(task('b', 2))
  queue.add(task('c', 3))
  await settled()
  queue.add(task('d', 4))
  await settled()
  expect([database.asked, log]).toEqual([2, []])
  resolve()
  await settled()
  expect(log).toEqual(['failed a', 'settled b', 'settled c', 'settled d'])
  expect([database.asked, await namesOf(database)]).toEqual([5, ['b', 'c', 'd']])
})
