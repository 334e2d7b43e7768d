import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import type { FileSystem } from '@helix-agents/core/provider'
import { expect } from 'vitest'
import { createProvider, openOptions, type ProviderSetup, session } from './provider-harness.ts'

/** Runs inside a new object, where its database can be used. */
export function inObject<T>(work: (storage: DurableObjectStorage) => Promise<T>): Promise<T> {
  const stub = env.FILES.get(env.FILES.newUniqueId())
  return runInDurableObject(stub, (_, state) => work(state.storage))
}

/** The files of a session; opened again, they are the same. */
export async function openFiles(
  storage: FileStoreStorage,
  setup: ProviderSetup = {},
  sessionId: string = session.sessionId,
): Promise<FileSystem> {
  const provider = createProvider(storage, setup)
  const { ws } = await provider.open(
    { kind: 'cloudflare-filestore' },
    { ...session, sessionId },
    openOptions(),
  )
  return ws.fs as FileSystem
}

/** The same database as another isolate sees it: nothing in memory is shared. */
export function asNewIsolate(storage: FileStoreStorage): FileStoreStorage {
  const { sql } = storage
  return {
    sql: { exec: (statement, ...bindings) => sql.exec(statement, ...bindings) },
    transactionSync: (work) => storage.transactionSync(work),
  }
}

/** Another object for the same storage, as a host may make one for each provider. */
export function wrapped(storage: FileStoreStorage): FileStoreStorage {
  return { sql: storage.sql, transactionSync: (work) => storage.transactionSync(work) }
}

/** Starts all of it inside a transaction, which fails at its end. */
export function rolledBack<T>(storage: DurableObjectStorage, work: () => Promise<T>): Promise<T> {
  let started: Promise<T> | undefined
  expect(() =>
    storage.transactionSync(() => {
      started = work()
      throw new Error('rolled back')
    }),
  ).toThrow('rolled back')
  if (started === undefined) throw new Error('it was not started')
  return started
}
