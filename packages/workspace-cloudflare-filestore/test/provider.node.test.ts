// What a provider says of its engines, when these end, and that each of its methods works on a new database.
import type {
  CodeEngine,
  FileSystem,
  ShellEngine,
  ShellEngineHost,
} from '@helix-agents/core/provider'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { createRef, createSnapshotRef } from '../src/ref.ts'
import { MapBucket } from './map-bucket.ts'
import { NodeStorage } from './node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from './provider-harness.ts'

const config = { kind: 'cloudflare-filestore' } as const

/** Engines that run nothing. Each ends slowly, and looks at the files then. */
function engines() {
  const events: string[] = []
  const hosts: Partial<Record<'shell' | 'code', Partial<ShellEngineHost>>> = {}
  const close = (name: 'shell' | 'code') => async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve))
    const files = (await hosts[name]?.files?.ls('/').catch(() => undefined)) ?? 'lost'
    events.push(`${name}: ${typeof files === 'string' ? files : files.length}`)
  }
  const shell = {
    name: 'shell',
    toolNote: 'note of the shell',
    open: (host: ShellEngineHost) => ((hosts.shell = host), { root: '/', close: close('shell') }),
  } as unknown as ShellEngine
  const code = {
    name: 'code',
    toolNote: 'note of the code',
    open: (host: ShellEngineHost) => ((hosts.code = host), { close: close('code') }),
  } as unknown as CodeEngine
  return { events, hosts, shell, code }
}

const kinds: readonly (readonly ('shell' | 'code')[])[] = [
  [],
  ['shell'],
  ['code'],
  ['shell', 'code'],
]

test.each(kinds.map((names) => [names]))('with %j it has these and no others', async (names) => {
  const { hosts, events, ...all } = engines()
  const given = Object.fromEntries(names.map((name) => [name, all[name]]))
  const provider = createProvider(new NodeStorage(), given)
  const flags = Object.fromEntries(names.map((name) => [name, true]))
  expect(provider.capabilities).toStrictEqual({ fs: true, snapshot: true, branch: true, ...flags })
  expect(provider.toolNotes).toStrictEqual(
    Object.fromEntries(names.map((name) => [name, `note of the ${name}`])),
  )
  const options = openOptions({ clock: new ManualClock(), logger: new RecordingLogger() })
  const { ws } = await provider.open(config, session, options)
  const { clock, logger } = options
  for (const name of ['shell', 'code'] as const) {
    expect([name, ws[name] !== undefined]).toEqual([name, names.includes(name)])
  }
  for (const name of names) expect(hosts[name]).toMatchObject({ files: ws.fs, clock, logger })
  expect(ws.shellRoot).toBe(names.includes('shell') ? '/' : undefined)
  await ws.fs?.writeFile('/a', 'x')
  await ws.detach?.()
  expect(events.toSorted()).toEqual(names.map((name) => `${name}: 1`).toSorted())
  await ws.close()
  // Commands and code end before the files that they use.
  expect(events.slice(names.length).toSorted()).toEqual(
    names.map((name) => `${name}: 1`).toSorted(),
  )
  await expect(ws.fs?.ls('/')).rejects.toMatchObject({ code: 'lost' })
})

const fresh = () => createProvider(new NodeStorage())

test('files of an object that has none yet can be asked for in every way', async () => {
  const owner = { ...openOptions(), session }
  const id = `fs-${'0'.repeat(32)}`
  const ref = createRef(id, fresh().capabilities)
  const snapshot = createSnapshotRef(id)
  await expect(fresh().resolve(ref, owner)).rejects.toMatchObject({ code: 'lost' })
  await expect(fresh().release(ref, owner)).resolves.toBeUndefined()
  expect(fresh().nextCollectionAt()).toBeUndefined()
  expect(await fresh().collect()).toMatchObject({ contents: 0 })
  await expect(fresh().deleteNamespaces()).resolves.toBeUndefined()
  await expect(fresh().history.restore(snapshot, owner)).rejects.toMatchObject({
    code: 'provider-failed',
  })
  await expect(fresh().history.remove(snapshot)).resolves.toBeUndefined()
  expect(await fresh().history.list('s')).toEqual({ snapshots: [], workspaces: [] })
})

const open = async (setup: ProviderSetup = {}) => {
  const storage = new NodeStorage()
  const clock = new ManualClock(1000)
  const bucket = new MapBucket()
  const provider = createProvider(storage, { clock, collectionGraceMs: 50, ...setup })
  const { ws, ref } = await provider.open(config, session, openOptions())
  return { storage, clock, bucket, provider, ws, ref, fs: ws.fs as FileSystem }
}

test('a file has the size that is declared, to the byte', async () => {
  const declared = fresh()
  const fs = async (maxFileSizeMb: number | undefined) => {
    const capabilities = { fs: maxFileSizeMb === undefined ? undefined : { maxFileSizeMb } }
    const options = openOptions({ capabilities: capabilities as never })
    return (await declared.open(config, session, options)).ws.fs as FileSystem
  }
  const most = Math.floor(0.0001 * 1024 * 1024)
  const files = await fs(0.0001)
  expect((await files.writeFile('/a', 'x'.repeat(most))).size).toBe(most)
  await expect(files.writeFile('/b', 'x'.repeat(most + 1))).rejects.toMatchObject({
    code: 'too-large',
  })
  const unlimited = await fs(undefined)
  expect((await unlimited.writeFile('/b', 'x'.repeat(most + 1))).size).toBe(most + 1)
})

test('its host hears when a collection is due, once there is something', async () => {
  const due: number[] = []
  const r2 = new MapBucket()
  const { fs, clock, provider } = await open({
    r2,
    inlineThresholdBytes: 3,
    scheduleCollection: (at) => void due.push(at),
  })
  await fs.writeFile('/a', 'abc')
  expect([due, provider.nextCollectionAt()]).toEqual([[], undefined])
  await clock.advance(5)
  await fs.writeFile('/a', 'larger')
  expect(due.at(-1)).toBe(1055)
  await clock.advance(5)
  await fs.rm('/a')
  expect([due.at(-1), provider.nextCollectionAt()]).toEqual([1060, 1060])
})

test('a content that is still read is due after the grace, and gone when it was read', async () => {
  const { fs, storage, clock, provider } = await open()
  await fs.writeFile('/a', 'x'.repeat(100_000))
  const reading = await fs.readStream('/a')
  await fs.rm('/a')
  expect(provider.nextCollectionAt()).toBe(clock.now() + 50)
  expect(await provider.collect(clock.now() + 1000)).toMatchObject({ contents: 0 })
  expect((await new Response(reading).text()).length).toBe(100_000)
  expect(provider.nextCollectionAt()).toBeUndefined()
  expect(storage.sql.exec('SELECT id FROM helix_fs_blocks').toArray()).toEqual([])
})

test('a bucket that is gone is a mistake of the operator, while files are in it', async () => {
  const storage = new NodeStorage()
  const files = { r2: new MapBucket(), inlineThresholdBytes: 3 }
  const { ws } = await createProvider(storage, files).open(config, session, openOptions())
  const without = () => createProvider(storage).open(config, session, openOptions())
  await ws.fs?.writeFile('/a', 'abc')
  await expect(without()).resolves.toMatchObject({ receipt: { outcome: 'reattached' } })
  await ws.fs?.writeFile('/a', 'larger')
  await expect(without()).rejects.toMatchObject({
    code: 'config-invalid',
    message: expect.stringContaining('files of this workspace are in a bucket'),
    hint: 'An operator must pass the bucket as r2 to the provider.',
  })
})

test('all files of a workspace are gone when it is closed, however many there are', async () => {
  const { storage, ws, fs } = await open()
  await fs.writeFile('/a', 'x')
  storage.sql.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
      INSERT INTO helix_fs_nodes SELECT s.id, '/', 'd' || i, NULL, 0, 0, 0, 0, 0
      FROM n, helix_fs_namespaces s`,
  )
  await ws.close()
  expect(storage.sql.exec('SELECT name FROM helix_fs_nodes').toArray()).toEqual([])
})

test('an object is put with the hash that names it', async () => {
  const puts: unknown[] = []
  class HashedBucket extends MapBucket {
    override async put(...call: [key: string, value: Uint8Array, options?: object]): Promise<void> {
      const [key, value, options] = call
      puts.push([key, options])
      await super.put(key, value)
    }
  }
  const { fs, ws } = await open({ r2: new HashedBucket(), inlineThresholdBytes: 3 })
  await fs.writeFile('/a', 'larger')
  const digest = new Uint8Array(
    await crypto.subtle.digest('SHA-256', new TextEncoder().encode('larger')),
  )
  const sha256 = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  expect(puts).toEqual([[`helix/${ws.id}/${sha256}.1`, { sha256 }]])
})
