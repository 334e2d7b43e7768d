import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { expect, test } from 'vitest'
import { begun, NOW, opened } from '../script.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { spawnChild } from './child.ts'

const READ_ONLY = 'unavailable: read-only'

/** A database that another user may read. */
async function closedDatabase(): Promise<{ directory: string; path: string }> {
  const directory = temporaryDirectory()
  const path = join(directory, 'sessions.db')
  const stores = await openSqliteStores(path)
  await begun(stores.stateStore, 's')
  await stores.close()
  chmodSync(path, 0o444)
  chmodSync(directory, 0o777)
  return { directory, path }
}

test('a file that may not be written is read, and every write is refused', async () => {
  const { path } = await closedDatabase()
  const child = spawnChild(['read-only', path], { unprivileged: true })
  expect(await child.next()).toEqual({ written: READ_ONLY, read: READ_ONLY })
})

test('a directory that may not be written is an error when opened', async () => {
  const { directory, path } = await closedDatabase()
  chmodSync(path, 0o666)
  chmodSync(directory, 0o555)
  const child = spawnChild(['read-only', path], { unprivileged: true })
  const refused = expect.stringMatching(/^unavailable: (io|read-only)$/)
  expect(await child.next()).toEqual({ written: refused, read: refused })
  chmodSync(directory, 0o777)
})

test('a new file in a directory that may not be written is an error', async () => {
  const directory = temporaryDirectory()
  chmodSync(directory, 0o555)
  const child = spawnChild(['read-only', join(directory, 'new.db')], { unprivileged: true })
  expect(await child.next()).toEqual({
    written: READ_ONLY,
    read: expect.stringMatching(/^unavailable/),
  })
})

test('readOnly reads what another connection writes, and writes nothing', async () => {
  const path = join(temporaryDirectory(), 'shared.db')
  const { stateStore } = await opened(path)
  const reader = await opened(path, { readOnly: true })
  const write = await begun(stateStore, 's')
  await stateStore.appendMessages({ ...write, messages: [{ role: 'user', content: 'hello' }] })
  expect((await reader.stateStore.loadMessages('s')).total).toBe(1)
  const session = { sessionId: 't', agentType: 'a', customState: undefined, now: NOW }
  await expect(reader.stateStore.createSession(session)).rejects.toMatchObject({
    code: 'unavailable',
    cause: { kind: 'read-only' },
  })
})

test('readOnly refuses a file that is missing', async () => {
  const path = join(temporaryDirectory(), 'missing.db')
  await expect(openSqliteStores(path, { readOnly: true })).rejects.toMatchObject({
    code: 'unavailable',
  })
})
