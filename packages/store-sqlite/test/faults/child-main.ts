// Tasks that need a process of their own. Every answer is one line of JSON.
import { DatabaseSync } from 'node:sqlite'
import { once } from 'node:events'
import { StateStoreError } from '@helix-agents/core'
import { openSqliteStores, type SqliteStores } from '@helix-agents/store-sqlite'

const [task = '', path = '', argument = ''] = process.argv.slice(2)
const NOW = 1_700_000_000_000

const tasks: Readonly<Record<string, () => Promise<void>>> = {
  /** Holds the lock until it is told to let go. */
  lock: async () => {
    const database = new DatabaseSync(path)
    database.exec('BEGIN IMMEDIATE')
    answer('locked')
    await told()
    database.exec('COMMIT')
    database.close()
    answer('free')
  },
  /** Opens when told, and claims a session. */
  race: async () => {
    answer('ready')
    await told()
    const stores = await openSqliteStores(path)
    const { stateStore } = stores
    const session = { sessionId: 's', agentType: 'a', customState: undefined, now: NOW }
    const created = await outcome(() => stateStore.createSession(session))
    const start = { sessionId: 's', runId: `run ${argument}`, leaseMs: 1000, now: NOW }
    const claimed = await outcome(() => stateStore.beginRun(start))
    await stores.close()
    answer({ created, claimed })
  },
  /** Appends messages until the file may not grow any more, then tries the rest of the store. */
  fill: async () => {
    const stores = await openSqliteStores(path)
    const { stateStore } = stores
    await stateStore.createSession({ sessionId: 's', agentType: 'a', customState: 1, now: NOW })
    const write = { sessionId: 's', runId: 'r', now: NOW }
    await stateStore.beginRun({ ...write, leaseMs: 1000 })
    const append = (length: number): Promise<string> => {
      const messages = [{ role: 'user', content: 'x'.repeat(length) } as const]
      return outcome(() => stateStore.appendMessages({ ...write, messages }))
    }
    let stored = 0
    let last = await append(20_000)
    for (; last === 'ok' && stored < 1000; last = await append(20_000)) stored++
    const { total } = await stateStore.loadMessages('s')
    answer({ stored, last, total, again: await append(20_000) })
    await stores.close()
  },
  /** Opens a file it may not write, then only for reading. */
  'read-only': async () => {
    const written = await outcome(() => use(openSqliteStores(path)))
    const read = await outcome(() => use(openSqliteStores(path, { readOnly: true })))
    answer({ written, read })
  },
  /** Writes until it is killed. */
  write: async () => {
    const { stateStore } = await openSqliteStores(path)
    const write = { sessionId: 's', runId: 'r', now: NOW }
    await stateStore.createSession({ sessionId: 's', agentType: 'a', customState: 0, now: NOW })
    await stateStore.beginRun({ ...write, leaseMs: 1000 })
    for (let n = 1; n <= Number(argument); n++) {
      const messages = [{ role: 'user', content: `${n}` } as const]
      const change = { customState: { value: n }, checkpointId: `cp ${n}` }
      await stateStore.commitStep({ ...write, messages, ...change })
    }
    answer('written')
    await told()
  },
}

async function use(opening: Promise<SqliteStores>): Promise<void> {
  const stores = await opening
  try {
    const head = await stores.stateStore.loadSession('s')
    if (head === null) throw new Error('the session is gone')
    await stores.stateStore.createSession({ ...head, sessionId: 'other', now: NOW })
  } finally {
    await stores.close()
  }
}

/** `ok`, or the code of the error. */
async function outcome(call: () => Promise<unknown>): Promise<string> {
  try {
    await call()
    return 'ok'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (!StateStoreError.isInstance(error)) return code
    return error.cause instanceof Error && 'kind' in error.cause
      ? `${code}: ${error.cause.kind}`
      : code
  }
}

function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

async function told(): Promise<void> {
  process.stdin.resume()
  await once(process.stdin, 'data')
  process.stdin.pause()
}

await tasks[task]?.()
