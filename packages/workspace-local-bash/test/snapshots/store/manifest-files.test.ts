import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { SnapshotStoreError } from '@helix-agents/core'
import type { SnapshotEntry, SnapshotManifest } from '@helix-agents/core/provider'
import { describe, expect, it, vi } from 'vitest'
import { BlockNames } from '../../../src/snapshots/store/block-names.ts'
import { KnownManifests } from '../../../src/snapshots/store/known-manifests.ts'
import { ManifestFiles } from '../../../src/snapshots/store/manifest-files.ts'
import { beforeFsCall } from '../../before-fs-call.ts'
import { manifestOf, useDirectory } from './store-fixture.ts'

const directory = useDirectory()
const ID = 'snapshot-of-a-test'
const KEY = `${'1000'.padStart(16, '0')}.${ID}`
const HASH = 'ab'.repeat(32)

/** As a process that stored or read nothing yet sees them. */
const files = (): ManifestFiles => new ManifestFiles(directory(), new KnownManifests())
const fileOf = (key: string): string => join(directory(), key)
const fileEntry = (path: string, hash = HASH): SnapshotEntry => ({
  path,
  type: 'file',
  size: 3,
  blocks: [hash],
})
const corrupt = (problem: string): unknown =>
  expect.objectContaining({
    code: 'corrupt',
    message: expect.stringContaining(`the stored manifest is damaged: ${problem}`),
  })
const absent = expect.objectContaining({
  code: 'not-found',
  message: 'there is no such snapshot',
})

const turn = () => new Promise((resolve) => setImmediate(resolve, 'turn'))

async function stored(more: { readonly path?: string } = {}): Promise<SnapshotManifest> {
  const manifest = await manifestOf(ID, [fileEntry(more.path ?? '/f')])
  await files().put(manifest)
  return manifest
}

describe('a manifest', () => {
  it('is found by its id, in a file for its user only', async () => {
    const kept = files()
    expect([kept.has(ID), kept.delete(ID), kept.known(ID), kept.keys()]).toEqual([
      false,
      false,
      undefined,
      [],
    ])
    await expect(kept.get(ID)).rejects.toEqual(absent)
    const manifest = await manifestOf(ID, [fileEntry('/f')])
    await kept.put(manifest)
    expect(readdirSync(directory())).toEqual([KEY])
    expect(statSync(fileOf(KEY)).mode & 0o777).toBe(0o600)
    expect([kept.has(ID), kept.keys(), kept.header(KEY)]).toEqual([true, [KEY], manifest.header])
    expect(await kept.get(ID)).toBe(manifest)
    expect(kept.known(ID)).toBe(manifest)
    expect(await files().get(ID)).toEqual(manifest)
    expect(files().known(ID)).toBeUndefined()
    expect([kept.delete(ID), kept.has(ID), kept.known(ID)]).toEqual([true, false, undefined])
    expect(readdirSync(directory())).toEqual([])
  })
  it('that was read is remembered, until its file is another one', async () => {
    await stored()
    const kept = files()
    const first = await kept.get(ID)
    expect(await kept.get(ID)).toBe(first)
    expect(kept.known(ID)).toBe(first)
    await stored({ path: '/g' })
    expect((await kept.get(ID)).entries).toEqual([fileEntry('/g')])
  })
  it('that is stored again after it was deleted is the new one', async () => {
    const kept = files()
    await kept.put(await manifestOf(ID, [fileEntry('/f')]))
    kept.delete(ID)
    await stored({ path: '/g' })
    expect(kept.known(ID)).toBeUndefined()
    expect((await kept.get(ID)).entries).toEqual([fileEntry('/g')])
  })
  it('comes before the older ones', async () => {
    const kept = files()
    for (const createdAt of [30, 100, 2]) {
      await kept.put(await manifestOf(`${ID}-${createdAt}`, [], { createdAt }))
    }
    writeFileSync(fileOf('other'), '')
    writeFileSync(fileOf(KEY.slice(0, 20)), '')
    expect(kept.keys().map((key) => key.slice(17))).toEqual([100, 30, 2].map((at) => `${ID}-${at}`))
    rmSync(directory(), { recursive: true })
    expect(kept.keys()).toEqual([])
  })
  it('of many entries is stored and read in pieces', async () => {
    const entries = Array.from({ length: 12_000 }, (_, index) =>
      fileEntry(`/${String(index).padStart(6, '0')}`),
    )
    await files().put(await manifestOf(ID, entries))
    expect(statSync(fileOf(KEY)).size).toBeGreaterThan(1024 * 1024)
    expect((await files().get(ID)).entries).toEqual(entries)
  })
  it('is there when all of it is written', async () => {
    const entries = Array.from({ length: 12_000 }, (_, index) => fileEntry(`/${index}`))
    const manifest = await manifestOf(ID, entries)
    // Each look at the clock finds that others have waited long.
    let nowMs = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1000))
    const sizes = new Set<number>()
    const storing = files().put(manifest)
    while ((await Promise.race([storing, turn()])) === 'turn') {
      const stats = statSync(fileOf(KEY), { throwIfNoEntry: false })
      if (stats !== undefined) sizes.add(stats.size)
    }
    expect([...sizes.add(statSync(fileOf(KEY)).size)]).toHaveLength(1)
  })
  it.each([
    [{ createdAt: 1e16 }, ID],
    [{}, 'short'],
    [{}, 'x'.repeat(129)],
  ])('of a time or id that no file can have is refused: %j %s', async (more, id) => {
    await expect(files().put(await manifestOf(id, [], more))).rejects.toMatchObject({
      code: 'invalid-manifest',
    })
    expect(readdirSync(directory())).toEqual([])
  })
  it('that is cut off while it is read is damaged', async () => {
    await stored()
    beforeFsCall('readSync', () => truncateSync(fileOf(KEY), 10))
    await expect(files().get(ID)).rejects.toMatchObject({ code: 'corrupt' })
  })
  it('that cannot be named leaves no draft, and is not remembered', async () => {
    mkdirSync(fileOf(KEY))
    const kept = files()
    await expect(kept.put(await manifestOf(ID))).rejects.toMatchObject({ code: 'EISDIR' })
    expect(readdirSync(directory())).toEqual([KEY])
    expect(kept.known(ID)).toBeUndefined()
  })
})

describe('a damaged manifest', () => {
  it('is no JSON, and says why', async () => {
    await stored()
    writeFileSync(fileOf(KEY), '{\n')
    await expect(files().get(ID)).rejects.toEqual(corrupt('the manifest is not valid'))
    await expect(files().get(ID)).rejects.toMatchObject({ cause: expect.any(SnapshotStoreError) })
    expect(() => files().header(KEY)).toThrow(corrupt('the manifest is not valid'))
    await expect(files().addNames(KEY, new BlockNames())).rejects.toEqual(corrupt(''))
  })
  it('has the name of another one', async () => {
    await stored()
    const other = `${KEY}-other`
    copyFileSync(fileOf(KEY), fileOf(other))
    await expect(files().get(`${ID}-other`)).rejects.toEqual(
      corrupt('it has the name of another one'),
    )
    await expect(files().addNames(other, new BlockNames())).rejects.toEqual(corrupt(''))
  })
  it('is a link', async () => {
    await stored()
    const other = `${KEY}-other`
    symlinkSync(fileOf(KEY), fileOf(other))
    await expect(files().get(`${ID}-other`)).rejects.toEqual(corrupt('a link is in its place'))
    expect(() => files().header(other)).toThrow(corrupt('a link is in its place'))
  })
  it('is larger than any can be', async () => {
    await stored()
    truncateSync(fileOf(KEY), 1024 ** 3 + 1)
    await expect(files().get(ID)).rejects.toEqual(corrupt('it is too large'))
  })
  it('has a header without an end', async () => {
    writeFileSync(fileOf(KEY), JSON.stringify((await stored()).header))
    expect(() => files().header(KEY)).toThrow(corrupt('the manifest is not valid: line 1'))
    writeFileSync(fileOf(KEY), `"${'x'.repeat(16 * 1024)}"\n`)
    expect(() => files().header(KEY)).toThrow(corrupt('the manifest is not valid: line 1 is not'))
  })
  it('is a directory: the error of the system', async () => {
    mkdirSync(fileOf(KEY))
    await expect(files().get(ID)).rejects.toMatchObject({ code: 'EISDIR' })
    expect(() => files().header(KEY)).toThrow('EISDIR')
  })
})

describe('what is gone since it was listed', () => {
  it('has no header, and its names are not found', async () => {
    expect(files().header(KEY)).toBeUndefined()
    await expect(files().addNames(KEY, new BlockNames())).rejects.toEqual(absent)
  })
})

describe('the blocks that a manifest names', () => {
  it('are found, whether it was read before or not', async () => {
    const kept = files()
    await kept.put(await manifestOf(ID, [fileEntry('/f'), fileEntry('/g', 'cd'.repeat(32))]))
    for (const each of [kept, files(), kept]) {
      const names = new BlockNames()
      await each.addNames(KEY, names)
      expect([HASH, 'cd'.repeat(32), 'ef'.repeat(32)].map((hash) => names.has(hash))).toEqual([
        true,
        true,
        false,
      ])
    }
  })
  it('are those of its file, when that is another one now', async () => {
    const kept = files()
    await kept.put(await manifestOf(ID, [fileEntry('/f')]))
    await files().put(await manifestOf(ID, [fileEntry('/f', 'cd'.repeat(32))]))
    const names = new BlockNames()
    await kept.addNames(KEY, names)
    expect([names.has(HASH), names.has('cd'.repeat(32))]).toEqual([false, true])
  })
  it('are only compared once they are known', async () => {
    const kept = files()
    await stored()
    await kept.addNames(KEY, new BlockNames())
    const before = readFileSync(fileOf(KEY))
    const names = new BlockNames()
    await kept.addNames(KEY, names)
    expect(names.has(HASH)).toBe(true)
    before[before.length - 2] = 0
    writeFileSync(fileOf(KEY), before)
    await expect(kept.addNames(KEY, new BlockNames())).rejects.toEqual(corrupt(''))
  })
})
