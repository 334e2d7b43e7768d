import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PolicyError } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/snapshots/store/block-files.ts'
import { toStoreError } from '../../../src/snapshots/store/store-errors.ts'
import { manifestOf, useDirectory } from './store-fixture.ts'

const temporary = useDirectory()
const directory = (): string => join(temporary(), 'store')
const clock = new ManualClock(1_000_000)
const storeOf = (): DirectorySnapshotStore =>
  new DirectorySnapshotStore({ directory: directory(), clock })

const bytes = Buffer.from('content')
const block = { hash: sha256(bytes), bytes }
const file = { path: '/f', type: 'file', size: 7, blocks: [block.hash] } as const
const ID = 'snapshot-of-a-test'
const scopePath = (scope: string): string => join(directory(), sha256(Buffer.from(scope)))

async function stored(scope = 'one'): Promise<DirectorySnapshotStore> {
  const store = storeOf()
  await store.putBlocks(scope, [block])
  await store.putManifest(scope, await manifestOf(ID, [file]))
  return store
}

describe('a scope on disk', () => {
  it('is for its user only', async () => {
    await stored()
    const parts = ['', 'blocks', 'manifests', 'scope'].map((part) => join(scopePath('one'), part))
    const modes = [directory(), ...parts].map((path) => statSync(path).mode & 0o777)
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o700, 0o600])
  })
  it('is held, with its bytes and its last change, until it is deleted', async () => {
    const store = storeOf()
    const states = async () => [
      store.holds('one'),
      store.lastChangeMs('one') > 0,
      await store.blockBytes('one'),
      store.blockDirectory('one'),
    ]
    expect(await states()).toEqual([false, false, 0, undefined])
    await store.deleteScope('one')
    await stored()
    await stored('two')
    expect(await states()).toEqual([true, true, 7, join(scopePath('one'), 'blocks')])
    utimesSync(scopePath('one'), 1, 1.0015)
    expect(store.lastChangeMs('one')).toBe(1001)
    await store.deleteScope('one')
    expect(await states()).toEqual([false, false, 0, undefined])
    expect(readdirSync(directory())).toEqual([sha256(Buffer.from('two'))])
  })
  it('that another process has deleted is made anew', async () => {
    const store = await stored()
    rmSync(scopePath('one'), { recursive: true })
    await store.putBlocks('one', [block])
    expect([...(await store.findBlocks('one', [block.hash]))]).toEqual([block.hash])
    expect((await store.listManifests('one')).items).toEqual([])
    expect((await store.listScopes()).items).toEqual(['one'])
  })
  it('that is not there holds nothing', async () => {
    const store = storeOf()
    expect((await store.findBlocks('one', [block.hash])).size).toBe(0)
    expect((await store.getBlocks('one', [block.hash])).size).toBe(0)
    expect(await store.deleteManifest('one', ID)).toBe(false)
    expect(await store.sweep('one')).toEqual({ deletedBlocks: 0, deletedBytes: 0, keptBlocks: 0 })
    expect((await store.listManifests('one')).items).toEqual([])
    expect((await store.listScopes()).items).toEqual([])
    await store.deleteLeftovers(0)
    await expect(store.getManifest('one', ID)).rejects.toMatchObject({
      code: 'not-found',
      message: 'there is no such snapshot',
    })
    expect(existsSync(directory())).toBe(false)
  })
  it('is none among folders that are named otherwise', async () => {
    const store = await stored()
    mkdirSync(join(directory(), 'other'))
    writeFileSync(join(directory(), 'file'), '')
    mkdirSync(scopePath('two'))
    writeFileSync(join(scopePath('two'), 'scope'), 'three')
    expect((await store.listScopes()).items).toEqual(['one'])
  })
  it('lists more than a page of scopes and snapshots', async () => {
    const store = storeOf()
    for (let n = 0; n < 3; n += 1) {
      await stored(`s${n}`)
      await store.putManifest('s0', await manifestOf(`${ID}-${n}`, [file], { createdAt: n }))
    }
    const listed: string[] = []
    for await (const scope of store.scopes()) listed.push(scope)
    for await (const { snapshotId } of store.manifests('s0')) listed.push(snapshotId)
    expect(listed).toEqual(['s0', 's1', 's2', ID, `${ID}-2`, `${ID}-1`, `${ID}-0`])
  })
})

describe('a snapshot', () => {
  it('has an id of its own, and blocks that are there', async () => {
    const store = await stored()
    await expect(store.putManifest('one', await manifestOf(ID, [file]))).rejects.toMatchObject({
      code: 'already-exists',
      message: 'a snapshot with this id is stored',
    })
    const other = { ...file, blocks: ['ab'.repeat(32)] }
    const missing = await manifestOf(`${ID}-2`, [other])
    await expect(store.putManifest('one', missing)).rejects.toMatchObject({
      code: 'missing-blocks',
      message: 'blocks of the snapshot are not stored',
    })
    expect((await store.listManifests('one')).items.map((one) => one.snapshotId)).toEqual([ID])
  })
  it('has no need of blocks for the entries that its parent has', async () => {
    const store = await stored()
    const first = await store.getManifest('one', ID)
    rmSync(join(scopePath('one'), 'blocks'), { recursive: true })
    mkdirSync(join(scopePath('one'), 'blocks'))
    const put = async (id: string, entries: typeof first.entries, parent?: string) =>
      store.putManifest(
        'one',
        await manifestOf(id, entries, parent === undefined ? {} : { parent }),
      )
    const before = { path: '/a', type: 'directory' } as const
    const [kept] = first.entries
    if (kept === undefined) throw new Error('no entry')
    await put(`${ID}-2`, [before, kept], ID)
    await expect(put(`${ID}-3`, [before, kept])).rejects.toMatchObject({ code: 'missing-blocks' })
    const same = { ...file }
    await expect(put(`${ID}-4`, [same], ID)).rejects.toMatchObject({ code: 'missing-blocks' })
    await put(`${ID}-5`, [kept], `${ID}-2`)
    const after = { ...file, path: '/g' }
    await expect(put(`${ID}-6`, [kept, after], `${ID}-2`)).rejects.toMatchObject({
      code: 'missing-blocks',
    })
  })
  it('that is deleted leaves its blocks to a sweep after the grace period', async () => {
    const store = await stored()
    const draft = join(scopePath('one'), 'blocks', 'draft-left')
    writeFileSync(draft, '')
    utimesSync(draft, 1, 1)
    const young = join(scopePath('one'), 'blocks', 'draft-young')
    writeFileSync(young, '')
    utimesSync(young, clock.now() / 1000, clock.now() / 1000)
    await store.sweep('one', { graceMs: 500 })
    expect(existsSync(young)).toBe(true)
    expect(await store.sweep('one', { graceMs: 0 })).toEqual({
      deletedBlocks: 0,
      deletedBytes: 0,
      keptBlocks: 1,
    })
    expect(existsSync(draft)).toBe(false)
    expect(await store.deleteManifest('one', ID)).toBe(true)
    await clock.advance(499)
    expect(await store.sweep('one', { graceMs: 500 })).toMatchObject({ keptBlocks: 1 })
    await clock.advance(1)
    expect(await store.sweep('one', { graceMs: 500 })).toEqual({
      deletedBlocks: 1,
      deletedBytes: 7,
      keptBlocks: 0,
    })
    const signal = AbortSignal.abort(new Error('stopped'))
    await store.putManifest('one', await manifestOf(ID))
    await expect(store.sweep('one', { signal })).rejects.toThrow('stopped')
  })
})

describe('what an interrupted deletion left', () => {
  it('is removed when it is old enough', async () => {
    const store = await stored()
    const left = `${sha256(Buffer.from('gone'))}-${'a'.repeat(32)}`
    mkdirSync(join(directory(), left, 'blocks'), { recursive: true })
    mkdirSync(join(directory(), `${left}0`))
    utimesSync(join(directory(), left), 1, 1000.0005)
    const count = (): number => readdirSync(directory()).length
    expect(count()).toBe(3)
    const ageMs = clock.now() - 1_000_000
    await store.deleteLeftovers(ageMs + 1)
    expect(count()).toBe(3)
    await store.deleteLeftovers(ageMs)
    expect(readdirSync(directory()).toSorted()).toEqual(
      [`${left}0`, sha256(Buffer.from('one'))].toSorted(),
    )
  })
})

describe('a directory of snapshots', () => {
  it.each([0o777, 0o770, 0o702])('that others may write to is refused: %o', async (mode) => {
    mkdirSync(directory())
    chmodSync(directory(), mode)
    await expect(storeOf().putBlocks('one', [block])).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the directory of snapshots is not one of this user',
      hint: 'An operator must give a directory that only the user of this process can write to.',
    })
  })
  it('that others may read is used, and one that others may write to by now is not', async () => {
    mkdirSync(directory())
    chmodSync(directory(), 0o755)
    await stored()
    chmodSync(directory(), 0o777)
    await expect(storeOf().getManifest('one', ID)).rejects.toMatchObject({ code: 'unavailable' })
  })
  it('that cannot be made or listed is unavailable', async () => {
    writeFileSync(directory(), '')
    const unavailable = { code: 'unavailable', cause: expect.any(Error) }
    await expect(storeOf().listScopes()).rejects.toMatchObject({
      ...unavailable,
      message: 'the directory of snapshots cannot be used: ENOTDIR',
    })
    await expect(storeOf().putBlocks('one', [block])).rejects.toMatchObject(unavailable)
  })
})

describe('an error of the system', () => {
  it.each([
    ['ENOSPC', 'storage-full'],
    ['EDQUOT', 'storage-full'],
    ['EFBIG', 'storage-full'],
    ['EACCES', 'unavailable'],
    ['EIO', 'unavailable'],
  ])('%s is %s', (errno, code) => {
    const cause = Object.assign(new Error('of the host: /tmp/x'), { code: errno })
    expect(toStoreError(cause)).toMatchObject({
      code,
      message: `the directory of snapshots cannot be used: ${errno}`,
      cause,
    })
  })
  it('is none of these', () => {
    const others = [
      new Error('x'),
      Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' }),
      Object.assign(new Error('x'), { code: 7 }),
      new PolicyError('cross-session', 'x'),
    ]
    expect(others.map(toStoreError)).toEqual(others)
    expect(toStoreError('text')).toBe('text')
  })
})
