// Snapshots of which no workspace is left.
import { mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotHeader } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, expect, it } from 'vitest'
import { ownMarker, writeOwner } from '../../src/owner.ts'
import { reapLines, type ReapLinesOptions } from '../../src/snapshots/reap-lines.ts'
import { sha256 } from '../../src/snapshots/store/block-files.ts'
import { createDirectory } from '../../src/workspace-directory.ts'
import { manifestOf, useDirectory } from './store/store-fixture.ts'

const base = useDirectory()
const directory = (): string => join(base(), 'store')
const NOW_MS = 10_000_000
let store: DirectorySnapshotStore
const clock = new ManualClock(NOW_MS)
beforeEach(() => {
  store = new DirectorySnapshotStore({ directory: directory(), clock })
})

const pathOf = (scope: string): string => join(directory(), sha256(Buffer.from(scope)))
/** A scope with a snapshot, changed last so long ago. */
async function take(scope: string, ageMs: number, more: Partial<SnapshotHeader> = {}) {
  await store.putManifest(scope, await manifestOf('snapshot-of-a-test', [], more))
  utimesSync(pathOf(scope), 1, (NOW_MS - ageMs) / 1000)
}
const reap = (more: Partial<ReapLinesOptions> = {}) =>
  reapLines({
    tmpdirRoot: base(),
    directory: directory(),
    clock,
    graceMs: 500,
    isDryRun: false,
    ...more,
  })

it('those go that are old enough, and that none keeps', async () => {
  await take('old', 500)
  await take('young', 499)
  await take('kept', 900, { kept: true })
  expect(await reap({ isDryRun: true })).toEqual(['old'])
  expect(store.holds('old')).toBe(true)
  expect(await reap()).toEqual(['old'])
  expect(['old', 'young', 'kept'].map((scope) => store.holds(scope))).toEqual([false, true, true])
  expect(await reap({ graceMs: 499 })).toEqual(['young'])
  expect(readdirSync(directory())).toEqual([sha256(Buffer.from('kept'))])
})

it('those stay of which a workspace is left, and all of them are looked at', async () => {
  for (const scope of ['a', 'b', 'c', 'd']) await take(scope, 900)
  const left = createDirectory(base())
  writeOwner(left.path, ownMarker({ env: {}, sinceMs: 1, line: 'b' }))
  expect((await reap()).toSorted()).toEqual(['a', 'c', 'd'])
  expect(store.holds('b')).toBe(true)
})

it('what an interrupted deletion left goes in time', async () => {
  const left = join(directory(), `${'a'.repeat(64)}-${'b'.repeat(32)}`)
  mkdirSync(left, { recursive: true, mode: 0o700 })
  utimesSync(left, 1, (NOW_MS - 500) / 1000)
  expect(await reap({ graceMs: 501 })).toEqual([])
  expect(await reap({ isDryRun: true })).toEqual([])
  expect(readdirSync(directory())).toHaveLength(1)
  expect(await reap()).toEqual([])
  expect(readdirSync(directory())).toEqual([])
})
