import { lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotFile } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import { versionOf } from '../../src/file-system/version.ts'
import { KnownDirectory, KnownFiles } from '../../src/snapshots/known-files.ts'
import { manifestOf, useDirectory } from './store/store-fixture.ts'

const directory = useDirectory()
const place = (name: string): string => join(directory(), name)
const entryOf = (path: string, more: object = {}): SnapshotFile => ({
  path,
  type: 'file',
  size: 1,
  blocks: [],
  ...more,
})
const statsOf = (name: string) => lstatSync(place(name), { bigint: true })

describe('files that are known', () => {
  it('are found while they are as they were read', () => {
    const known = new KnownDirectory()
    writeFileSync(place('f'), 'x')
    const entry = entryOf('/f')
    const added = known.add('f', statsOf('f'), entry)
    expect(added).toMatchObject({ entry, isLinked: false, size: 1, dev: lstatSync(place('f')).dev })
    expect(known.find('f', place('f'))).toBe(added)
    expect(known.find('g', place('f'))).toBeUndefined()
    expect(known.find('f', place('gone'))).toBeUndefined()
    expect(known.find('f', join(place('f'), 'below'))).toBeUndefined()
    writeFileSync(place('f'), 'other')
    expect(known.find('f', place('f'))).toBeUndefined()
    expect(known.size).toBe(1)
    known.keepOnly(new Set(['f']))
    expect(known.size).toBe(1)
    known.keepOnly(new Set(['g']))
    expect(known.size).toBe(0)
  })
  it('of a stored snapshot are those of the same version', async () => {
    writeFileSync(place('f'), 'x')
    mkdirSync(place('d'))
    symlinkSync('f', place('l'))
    const version = versionOf(statsOf('f'))
    const manifest = await manifestOf('snapshot-of-a-test', [
      entryOf('/d/f', { version }),
      entryOf('/f', { version }),
      entryOf('/g'),
      { path: '/l', type: 'symlink', target: 'f' },
    ])
    const known = KnownFiles.of(manifest)
    const top = known.visit('/')
    expect(top.find('f', place('f'))?.entry).toBe(manifest.entries[1])
    expect(top.size).toBe(1)
    expect(known.visit('/d').find('f', place('f'))?.entry).toBe(manifest.entries[0])
    expect([top.find('g', place('f')), top.find('l', place('l'))]).toEqual([undefined, undefined])
    const again = KnownFiles.of(manifest).visit('/')
    for (const other of ['gone', 'f/below', 'd', 'l']) {
      expect(again.find('f', place(other))).toBeUndefined()
    }
    writeFileSync(place('f'), 'y')
    expect(again.find('f', place('f'))).toBeUndefined()
  })
  it('are forgotten with a directory that was not visited', () => {
    const known = new KnownFiles()
    const [kept, left] = [known.visit('/kept'), known.visit('/left')]
    known.forgetOthers()
    expect(known.visit('/kept')).toBe(kept)
    known.forgetOthers()
    expect(known.visit('/kept')).toBe(kept)
    expect(known.visit('/left')).not.toBe(left)
  })
  it('of a stored snapshot are forgotten, too, with a directory that was not visited', async () => {
    mkdirSync(place('left'))
    writeFileSync(place('left/f'), 'x')
    const entry = entryOf('/left/f', { version: versionOf(statsOf('left/f')) })
    const known = KnownFiles.of(await manifestOf('snapshot-of-a-test', [entry]))
    known.forgetOthers()
    expect(known.visit('/left').find('f', place('left/f'))).toBeUndefined()
  })
  it('have one entry for a directory, until its mode changes', () => {
    const known = new KnownFiles()
    const entry = known.directoryEntry('/d', 0o755)
    expect(entry).toEqual({ path: '/d', type: 'directory', mode: 0o755 })
    expect(known.directoryEntry('/d', 0o755)).toBe(entry)
    expect(known.directoryEntry('/d', 0o700)).toEqual({ ...entry, mode: 0o700 })
  })
  it('have a listing for one state of their directory', () => {
    const known = new KnownDirectory()
    const state = { dev: 1, ino: 2, size: 3, mtimeMs: 4, ctimeMs: 5 }
    expect(known.findListing(state)).toBeUndefined()
    const keys = ['a', 'b']
    known.setListing({ state, keys })
    expect(known.findListing({ ...state })).toBe(keys)
    expect(known.findListing({ ...state, ctimeMs: 6 })).toBeUndefined()
    known.setListing(undefined)
    expect(known.findListing(state)).toBeUndefined()
  })
})
