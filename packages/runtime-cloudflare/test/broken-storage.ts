// What the platform does when the storage of an object is full, or does not answer.
import { inObject, type TestSession } from './session.ts'

const FULL = 'database or disk is full: SQLITE_FULL'
const WRITES = /^\s*(?:INSERT|UPDATE|REPLACE|CREATE|ALTER)\b/i

type Method = (this: unknown, ...args: readonly unknown[]) => unknown

/** Replaces a method of all objects of a class; the result puts it back. */
function replace(
  instance: object,
  name: string,
  change: (original: Method, self: unknown, args: readonly unknown[]) => unknown,
): () => void {
  const prototype = Object.getPrototypeOf(instance) as Record<string, Method>
  const original = prototype[name]!
  prototype[name] = function (this: unknown, ...args) {
    return change(original, this, args)
  }
  return () => void (prototype[name] = original)
}

/**
 * From now on nothing new is stored in any object: rows, keys and alarms. What is there is read
 * and removed as before; what was removed makes room for rows. The result makes room for all.
 */
export function fillStorage(session: TestSession): Promise<() => void> {
  return inObject(session, ({ storage }) => {
    let hasRoom = false
    const puts = [
      replace(storage.sql, 'exec', (exec, sql, args) => {
        const statement = String(args[0])
        if (!hasRoom && WRITES.test(statement)) throw new Error(FULL)
        const cursor = exec.apply(sql, [...args]) as SqlStorageCursor<never>
        if (statement.startsWith('DELETE')) hasRoom ||= cursor.rowsWritten > 0
        return cursor
      }),
      replace(storage.kv, 'put', () => {
        throw new Error(FULL)
      }),
      replace(storage, 'setAlarm', () => Promise.reject(new Error(FULL))),
    ]
    return () => {
      for (const put of puts) put()
    }
  })
}

/** From now on no object can set its alarm. The result ends that. */
export function breakAlarms(session: TestSession): Promise<() => void> {
  return inObject(session, ({ storage }) =>
    replace(storage, 'setAlarm', () => Promise.reject(new Error('internal error; reference = x'))),
  )
}
