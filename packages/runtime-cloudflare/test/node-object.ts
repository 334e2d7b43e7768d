// What the platform gives an object, on the SQLite of Node: for tests that need no workerd.

/** The part of `node:sqlite` that is used; this folder has the types of workerd. */
interface Sqlite {
  exec(statement: string): void
  prepare(statement: string): { all(...values: unknown[]): Record<string, unknown>[] }
}
interface Node {
  readonly process: {
    getBuiltinModule(name: 'node:sqlite'): { DatabaseSync: new (path: string) => Sqlite }
  }
}
const { DatabaseSync } = (globalThis as unknown as Node).process.getBuiltinModule('node:sqlite')

/** Until all that is ready has run: what was not waited for comes too late. */
export const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/**
 * Steps that take their time, one after the other.
 * @param onOverlap hears of a step that did not wait for the one before
 */
export function createSteps(onOverlap: (name: string) => void) {
  let isBusy = false
  return async (name: string): Promise<void> => {
    if (isBusy) onOverlap(name)
    isBusy = true
    await later()
    isBusy = false
  }
}

/** The state of an object. Each request to its storage that is not synchronous takes its time. */
export function createNodeObject() {
  const state = {
    alarm: null as number | null,
    isSqlite: true,
    fail: undefined as string | undefined,
    syncs: 0,
    /** How often the alarm was set. */
    sets: 0,
    waits: [] as Promise<unknown>[],
  }
  const values = new Map<string, unknown>()
  let database = new DatabaseSync(':memory:')
  let depth = 0
  const slow = async (name: string): Promise<void> => {
    await later()
    if (state.fail === name) throw new Error(`${name}: SQLITE_FULL`)
  }
  const exec = (statement: string, ...given: readonly unknown[]) => {
    const bindings = given.map((one) => (one instanceof ArrayBuffer ? new Uint8Array(one) : one))
    const rows = database
      .prepare(statement)
      .all(...bindings)
      .map(toRow)
    return { toArray: () => rows }
  }
  const storage = {
    sql: {
      exec,
      get databaseSize() {
        if (!state.isSqlite) throw new Error('needs new_sqlite_classes')
        return 0
      },
    },
    kv: {
      get: (key: string) => values.get(key),
      put: (key: string, value: unknown) => {
        if (state.fail === 'put') throw new Error('put: SQLITE_FULL')
        values.set(key, structuredClone(value))
      },
      delete: (key: string) => values.delete(key),
      list: ({ prefix = '' } = {}) => [...values].filter(([key]) => key.startsWith(prefix)),
    },
    transactionSync: <T>(work: () => T): T => {
      if (state.fail === 'transaction') throw new Error('transaction: SQLITE_FULL')
      const name = `s${(depth += 1)}`
      try {
        database.exec(`SAVEPOINT ${name}`)
        const result = work()
        database.exec(`RELEASE ${name}`)
        return result
      } catch (error) {
        database.exec(`ROLLBACK TO ${name}; RELEASE ${name}`)
        throw error
      } finally {
        depth -= 1
      }
    },
    getAlarm: async () => (await slow('getAlarm'), state.alarm),
    setAlarm: async (at: number) => {
      await slow('setAlarm')
      state.alarm = at
      state.sets += 1
    },
    deleteAlarm: async () => {
      await slow('deleteAlarm')
      state.alarm = null
    },
    deleteAll: async () => {
      values.clear()
      database = new DatabaseSync(':memory:')
      await slow('deleteAll')
    },
    sync: async () => {
      await slow('sync')
      state.syncs += 1
    },
  }
  const ctx = {
    storage,
    waitUntil: (work: Promise<unknown>) => void state.waits.push(work),
    getWebSockets: () => [],
  }
  return { ctx: ctx as unknown as DurableObjectState, state, values }
}

function toRow(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? new Uint8Array(value).buffer : value,
  ])
  return Object.fromEntries(entries)
}
