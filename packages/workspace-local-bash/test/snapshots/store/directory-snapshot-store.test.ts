// What the conformance clauses of a store do not say: turns of the event loop, and what is on disk.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../../src/snapshots/store/block-files.ts'
import { turnsDuring } from '../../slow-machine.ts'
import { manifestOf, useDirectory } from './store-fixture.ts'

const directory = useDirectory()
const place = (): string => join(directory(), 'store')
const COUNT = 20
const blocks = Array.from({ length: COUNT }, (_, n) => {
  const bytes = new Uint8Array(Buffer.from(`block ${n}`))
  return { hash: sha256(bytes), bytes }
})
const hashes = blocks.map(({ hash }) => hash)
const files = blocks.map(({ hash, bytes }, n) => ({
  path: `/f${String(n).padStart(2, '0')}`,
  type: 'file' as const,
  size: bytes.length,
  blocks: [hash],
}))
const ID = 'snapshot-of-a-test'
let clock: ManualClock
let store: DirectorySnapshotStore
beforeEach(() => {
  clock = new ManualClock(1_000_000)
  store = new DirectorySnapshotStore({ directory: place(), clock })
})

describe('on a slow machine other work has its turns', () => {
  it('while blocks are stored, found and read', async () => {
    expect(await turnsDuring(() => store.putBlocks('s', blocks))).toBeGreaterThanOrEqual(COUNT)
    expect(await turnsDuring(() => store.findBlocks('s', hashes))).toBeGreaterThanOrEqual(COUNT)
    expect(await turnsDuring(() => store.getBlocks('s', hashes))).toBeGreaterThanOrEqual(COUNT)
    expect(await turnsDuring(() => store.blockBytes('s'))).toBeGreaterThanOrEqual(COUNT)
  })
  it('while a manifest is stored and blocks are freed', async () => {
    await store.putBlocks('s', blocks)
    const manifest = await manifestOf(ID, files)
    expect(await turnsDuring(() => store.putManifest('s', manifest))).toBeGreaterThanOrEqual(COUNT)
    expect(await turnsDuring(() => store.sweep('s', { graceMs: 0 }))).toBeGreaterThanOrEqual(COUNT)
    expect((await store.getManifest('s', ID)).entries).toHaveLength(COUNT)
  })
})

describe('what is on disk', () => {
  it('is of its user alone', async () => {
    await store.putBlocks('s', blocks.slice(0, 1))
    const [scope = ''] = readdirSync(place())
    const modes = ['', scope, `${scope}/blocks`, `${scope}/manifests`].map(
      (name) => statSync(join(place(), name)).mode & 0o777,
    )
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o700])
    expect(statSync(join(place(), scope, 'scope')).mode & 0o777).toBe(0o600)
    expect(scope).toBe(sha256(Buffer.from('s')))
  })
  it.each([
    ['may be written by others', () => chmodSync(place(), 0o720)],
    ['may be written by all', () => chmodSync(place(), 0o702)],
    ['is of another user', () => vi.spyOn(process, 'getuid').mockReturnValue(1_000_000)],
  ])('in a directory that %s is not used', async (_, spoil) => {
    mkdirSync(place())
    spoil()
    await expect(store.putBlocks('s', blocks)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the directory of snapshots is not one of this user',
      hint: 'An operator must give a directory that only the user of this process can write to.',
    })
  })
  it('behind a link is not used', async () => {
    mkdirSync(join(directory(), 'real'))
    symlinkSync('real', place())
    await expect(store.putBlocks('s', blocks)).rejects.toMatchObject({ code: 'unavailable' })
  })
  it('is counted, and has the time of its last change', async () => {
    expect([store.holds('s'), store.lastChangeMs('s'), await store.blockBytes('s')]).toEqual([
      false,
      0,
      0,
    ])
    expect(store.blockDirectory('s')).toBeUndefined()
    await store.putBlocks('s', blocks.slice(0, 2))
    const scope = join(place(), sha256(Buffer.from('s')))
    utimesSync(scope, 5.0019, 5.0019)
    expect([store.holds('s'), store.lastChangeMs('s'), await store.blockBytes('s')]).toEqual([
      true,
      5001,
      14,
    ])
    expect(store.blockDirectory('s')).toBe(join(scope, 'blocks'))
  })
  it('of a scope is gone when that was deleted', async () => {
    await store.putBlocks('s', blocks)
    await store.deleteScope('s')
    expect([readdirSync(place()), store.holds('s')]).toEqual([[], false])
    await store.deleteScope('s')
    await store.putBlocks('s', blocks.slice(0, 1))
    expect(await store.blockBytes('s')).toBe(7)
  })
  it('of a deletion that was interrupted goes after a time', async () => {
    await store.putBlocks('s', blocks.slice(0, 1))
    const left = join(place(), `${'a'.repeat(64)}-${'b'.repeat(32)}`)
    mkdirSync(join(left, 'blocks'), { recursive: true })
    mkdirSync(join(place(), `${'a'.repeat(64)}-other`))
    utimesSync(left, 999.5, 999.5)
    await store.deleteLeftovers(501)
    expect(existsSync(left)).toBe(true)
    await store.deleteLeftovers(500)
    expect([existsSync(left), readdirSync(place()).length]).toEqual([false, 2])
  })
})

it('scopes and snapshots are found page by page, whatever else lies there', async () => {
  for (const scope of ['b', 'a', 'c']) await store.putBlocks(scope, [])
  mkdirSync(join(place(), 'foreign'))
  const scopes: string[] = []
  for await (const scope of store.scopes()) scopes.push(scope)
  expect(scopes).toEqual(['a', 'b', 'c'])
  expect(await store.listScopes({ limit: 2 })).toMatchObject({ items: ['a', 'b'] })
})
