// What sessions cost: the platform bills rows, alarms and bytes.
import { expect, test } from 'vitest'
import { say, type Script, use } from '../scripts.ts'
import { createSession, inObject, storedIn, type TestSession, untilAtRest } from '../session.ts'

interface Cost {
  rowsWritten: number
  rowsRead: number
  statements: number
  alarms: number
}

/** Counts what all objects do from now on. */
async function countCost(session: TestSession): Promise<{ readonly cost: Cost; stop: () => void }> {
  const cost: Cost = { rowsWritten: 0, rowsRead: 0, statements: 0, alarms: 0 }
  const stops = await inObject(session, ({ storage }) => {
    const sql = Object.getPrototypeOf(storage.sql) as SqlStorage
    const alarms = Object.getPrototypeOf(storage) as DurableObjectStorage
    // oxlint-disable-next-line typescript/unbound-method -- they are called with their objects
    const [{ exec }, { setAlarm }] = [sql, alarms]
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
    sql.exec = function (this: SqlStorage, ...args: Parameters<SqlStorage['exec']>) {
      const cursor = exec.apply(this, args)
      cursors.push(cursor)
      return cursor
    } as never
    alarms.setAlarm = function (this: DurableObjectStorage, ...args) {
      cost.alarms++
      return setAlarm.apply(this, args)
    }
    return () => {
      Object.assign(sql, { exec })
      Object.assign(alarms, { setAlarm })
      for (const cursor of cursors) {
        cost.rowsWritten += cursor.rowsWritten
        cost.rowsRead += cursor.rowsRead
        cost.statements++
      }
    }
  })
  return { cost, stop: stops }
}

/** Asks for so many tool calls, one a step, and says so many pieces with each. */
function steps(count: number, pieces: number): Script['brain'] {
  return (messages, { callbacks }) => {
    const asked = messages.findLastIndex(({ role }) => role === 'user')
    const done = messages.slice(asked).filter(({ role }) => role === 'tool').length
    for (let piece = 0; piece < pieces; piece++) callbacks.onTextDelta?.('word ')
    if (done === count) return say('done')
    return use('workspace__box__write_file', { path: `/${done}`, content: 'x' }, `call-${done}`)
  }
}

async function costOf(count: number, pieces: number): Promise<Cost> {
  const session = createSession({ brain: steps(count, pieces) })
  await session.post('/start', { message: 'go' })
  await session.ended()
  await untilAtRest(session)
  const { cost, stop } = await countCost(session)
  await session.post('/message', { message: 'go' })
  expect(await session.ended()).toBe('completed')
  await untilAtRest(session)
  stop()
  return cost
}

test('a step and a chunk write few rows, and steps set no alarms', async () => {
  const base = await costOf(1, 0)
  const more = await costOf(11, 0)
  const chatty = await costOf(1, 100)
  const perStep = (more.rowsWritten - base.rowsWritten) / 10
  const perChunk = (chatty.rowsWritten - base.rowsWritten) / 200
  expect(perStep).toBeLessThanOrEqual(16)
  // Its own, and that of the run before, which is dropped.
  expect(perChunk).toBeLessThanOrEqual(2)
  expect(more.alarms).toBe(base.alarms)
  expect(base.alarms).toBeLessThanOrEqual(1)
})

test('a session at rest sets no alarm and is small', async () => {
  const session = createSession({ brain: steps(3, 10) })
  await session.post('/start', { message: 'go' })
  await session.ended()
  await untilAtRest(session)
  expect((await storedIn(session)).alarm).toBeNull()
  const bytes = await inObject(session, ({ storage }) => storage.sql.databaseSize)
  expect(bytes).toBeLessThan(275_000)
})
