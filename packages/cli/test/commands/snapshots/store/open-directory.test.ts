// Which directories are opened as stores of snapshots, and which are made.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openSnapshotDirectory } from '../../../../src/commands/snapshots/store/open-directory.ts'
import { openSnapshots } from '../../../../src/commands/snapshots/store/open-snapshots.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helix-cli-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const UNREACHABLE = { exitCode: 3 }

it('one that is there is opened, whether it may be made or not', async () => {
  for (const canCreate of [true, false]) {
    const { store } = await openSnapshotDirectory(folder, { canCreate })
    expect(await store.listScopes({})).toMatchObject({ items: [] })
  }
})

it('one that is not there is opened only to be made', async () => {
  const path = join(folder, 'new')
  await expect(openSnapshotDirectory(path, { canCreate: false })).rejects.toMatchObject({
    ...UNREACHABLE,
    message: `there is no directory ${path}: name one with --store`,
  })
  expect(existsSync(path)).toBe(false)
  const opened = await openSnapshotDirectory(path, { canCreate: true })
  await opened.store.putBlocks('scope', [])
  await opened.close()
})

it.each([true, false])('a file is no store (may be made: %s)', async (canCreate) => {
  const path = join(folder, 'file')
  writeFileSync(path, '')
  await expect(openSnapshotDirectory(path, { canCreate })).rejects.toMatchObject({
    ...UNREACHABLE,
    message: `${path} is no directory`,
  })
})

it('without a name it is that of local-bash', async () => {
  vi.stubEnv('TMPDIR', folder)
  const path = join(folder, `helix-snapshots-${process.getuid?.() ?? 0}`)
  const options = { canCreate: false, env: {}, fetch }
  await expect(openSnapshots(undefined, options)).rejects.toThrow(`no directory ${path}:`)
  mkdirSync(path)
  expect(await openSnapshots(undefined, options)).toHaveProperty('store')
})

it.each([
  ['relative/path', 'there is no directory'],
  ['/s3:/not-a-bucket', 'there is no directory'],
  ['s3:/', 'a bucket is'],
  ['S3://bucket?region=r', 'needs AWS_ACCESS_KEY_ID'],
  ['s3://bucket', 'needs an endpoint'],
  ['ftp://host/x', 'and not ftp://'],
  ['A+b.c-1://x', 'and not A+b.c-1://'],
])('%s is told from the others by its start', async (place, problem) => {
  const options = { canCreate: false, env: {}, fetch }
  await expect(openSnapshots(place, options)).rejects.toThrow(problem)
})
