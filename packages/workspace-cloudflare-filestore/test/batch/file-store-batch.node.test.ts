// The small changes of a command: what is gathered, what is stored at once, and when the rest is: in Node.
import { describe, expect, test } from 'vitest'
import { type BatchFixture, openBatch } from '../batch-fixture.ts'
import { databaseFaults } from '../crash/audit.ts'
import { MapBucket } from '../map-bucket.ts'
import { NodeStorage } from '../node-storage.ts'
import type { ProviderSetup } from '../provider-harness.ts'

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

async function open(setup: ProviderSetup = {}) {
  const storage = new NodeStorage()
  const fixture = await openBatch(storage, setup)
  await fixture.fs.mkdir('/d/e', { recursive: true })
  await fixture.fs.writeFile('/d/old', 'old')
  fixture.counts.transactions = 0
  const stored = (): boolean => fixture.counts.transactions > 0
  return { ...fixture, storage, stored }
}

type Files = BatchFixture['batch']['files']

describe('a command gathers', () => {
  test.each<readonly [string, (files: Files) => Promise<unknown>]>([
    ['a new file', (files) => files.writeFile('/new', 'x')],
    ['a new file in a directory', (files) => files.writeFile('/d/e/new', 'x')],
    ['a new content', (files) => files.writeFile('/d/old', 'x')],
    ['an append', (files) => files.appendFile('/d/old', 'x')],
    ['an append to a new file', (files) => files.appendFile('/d/new', 'x')],
    ['a directory', (files) => files.mkdir('/d/new')],
    ['directories', (files) => files.mkdir('/x/y/z', { recursive: true })],
    ['the largest write', (files) => files.writeFile('/new', 'x'.repeat(65_536))],
    [
      'a file in a directory that it makes',
      async (files) => {
        await files.mkdir('/x')
        await files.writeFile('/x/new', 'x')
      },
    ],
    [
      'the removal of a file that it made',
      async (files) => {
        await files.writeFile('/new', 'x')
        await files.rm('/new')
      },
    ],
    [
      'a file that it renames over another',
      async (files) => {
        await files.writeFile('/new', 'x')
        await files.move('/new', '/d/old', { overwrite: true })
      },
    ],
    [
      'a file that it renames to a new path',
      async (files) => {
        await files.writeFile('/new', 'x')
        await files.move('/new', '/d/other')
      },
    ],
  ])('%s', async (_, act) => {
    const { batch, stored, storage } = await open()
    await act(batch.files)
    expect(stored()).toBe(false)
    expect(await batch.commit()).toEqual([])
    expect(databaseFaults(storage)).toEqual([])
  })

  test.each<readonly [string, (files: Files) => Promise<unknown>]>([
    ['a larger write', (files) => files.writeFile('/new', 'x'.repeat(65_537))],
    ['a larger append', (files) => files.appendFile('/new', 'x'.repeat(65_537))],
    ['a write with options', (files) => files.writeFile('/new', 'x', { ifAbsent: true })],
    ['a write that makes directories', (files) => files.writeFile('/x/y', 'x')],
    ['the removal of a stored file', (files) => files.rm('/d/old')],
    ['a stored file that it renames', (files) => files.move('/d/old', '/d/new')],
    ['a copy', (files) => files.copy('/d/old', '/d/new')],
  ])('no %s', async (_, act) => {
    const { batch, clock } = await open()
    await act(batch.files)
    expect(clock.pendingTimers).toBe(0)
  })

  test('no write that goes to the bucket', async () => {
    const { batch, stored } = await open({ r2: new MapBucket(), inlineThresholdBytes: 3 })
    await batch.files.writeFile('/new', 'abc')
    expect(stored()).toBe(false)
    await batch.files.writeFile('/new', 'abcd')
    expect(stored()).toBe(true)
    expect(textOf(await batch.files.readFile('/new'))).toBe('abcd')
  })

  test.each<readonly [string, string, (files: Files) => Promise<unknown>]>([
    ['is-directory', 'a file in place of a directory', (files) => files.writeFile('/d', 'x')],
    ['is-directory', 'an append to a directory', (files) => files.appendFile('/d/e', 'x')],
    ['not-directory', 'a file below a file', (files) => files.writeFile('/d/old/x', 'x')],
    ['already-exists', 'a directory in place of a file', (files) => files.mkdir('/d/old')],
    ['not-found', 'a directory in none', (files) => files.mkdir('/x/y')],
    ['not-found', 'the removal of nothing', (files) => files.rm('/x')],
  ])('no error: %s for %s', async (code, _, act) => {
    const { batch } = await open()
    await batch.files.writeFile('/before', 'x')
    await expect(act(batch.files)).rejects.toMatchObject({ code })
    expect(textOf(await batch.files.readFile('/before'))).toBe('x')
  })
})

describe('what is gathered', () => {
  test('is seen by the command as it will be', async () => {
    const { batch, clock, stored } = await open()
    await batch.files.appendFile('/d/old', ' more')
    const at = clock.now()
    const stat = await batch.files.stat('/d/old')
    expect(stat).toEqual({
      path: '/d/old',
      type: 'file',
      size: 8,
      mtime: new Date(at),
      version: expect.stringMatching(/^pending\.\d+$/),
    })
    await batch.files.mkdir('/d/new')
    expect(await batch.files.stat('/d/new')).toMatchObject({ type: 'directory', size: 0 })
    await batch.files.writeFile('/d/new/a', 'one')
    await batch.files.appendFile('/d/new/a', ' two')
    expect(textOf(await batch.files.readFile('/d/new/a'))).toBe('one two')
    expect(stored()).toBe(false)
    // What is stored and added to is read as one.
    expect(textOf(await batch.files.readFile('/d/old'))).toBe('old more')
    expect(stored()).toBe(true)
  })

  test('of a file that was there goes with it, and moves with it', async () => {
    const { batch, fs } = await open()
    await batch.files.appendFile('/d/old', ' more')
    await batch.files.move('/d/old', '/d/e/moved')
    await expect(fs.stat('/d/old')).rejects.toMatchObject({ code: 'not-found' })
    expect(await fs.readText?.('/d/e/moved')).toBe('old more')
    await batch.files.appendFile('/d/e/moved', '!')
    await batch.files.rm('/d/e/moved')
    for (const files of [batch.files, fs]) {
      await expect(files.stat('/d/e/moved')).rejects.toMatchObject({ code: 'not-found' })
    }
  })

  test('is stored by what needs all of it', async () => {
    for (const act of [(files: Files) => files.ls('/'), (files: Files) => files.grep('x', {})]) {
      const { batch, stored } = await open()
      await batch.files.writeFile('/new', 'x')
      await batch.files.writeFile('/other', 'x')
      expect(JSON.stringify(await act(batch.files))).toContain('/new')
      expect(stored()).toBe(true)
    }
  })

  test('is stored when the command waits, once, and no timer is left', async () => {
    const { batch, clock, stored, counts } = await open()
    await batch.files.writeFile('/a', 'x')
    await batch.files.writeFile('/b', 'x')
    expect(clock.pendingTimers).toBe(1)
    expect(await batch.commit()).toEqual([])
    expect([clock.pendingTimers, counts.transactions]).toEqual([0, 1])
    await batch.files.writeFile('/c', 'x')
    await batch.files.writeFile('/d/f', 'x')
    expect(clock.pendingTimers).toBe(1)
    await clock.advance(0)
    expect([clock.pendingTimers, counts.transactions, stored()]).toEqual([0, 2, true])
  })

  test('is a thousand changes at most', async () => {
    const { batch, counts } = await open()
    for (let n = 0; n < 1000; n += 1) await batch.files.writeFile(`/${n}`, '')
    expect(counts.transactions).toBe(0)
    await batch.files.writeFile('/1000', '')
    expect(counts.transactions).toBe(1)
  })

  test('has as many bytes as fit', async () => {
    const { batch, stored } = await open({ maxBytes: 10 })
    await batch.files.writeFile('/new', 'x'.repeat(6))
    await batch.files.appendFile('/new', 'x')
    expect(stored()).toBe(false)
    await batch.commit()
    await expect(batch.files.writeFile('/more', 'x')).rejects.toMatchObject({
      code: 'storage-full',
    })
    const full = await open({ maxBytes: 10 })
    await expect(full.batch.files.writeFile('/new', 'x'.repeat(8))).rejects.toMatchObject({
      code: 'storage-full',
    })
  })

  test('is as many files as fit', async () => {
    const { batch, stored } = await open({ maxFiles: 5 })
    await batch.files.writeFile('/four', '')
    await batch.files.mkdir('/five')
    expect(stored()).toBe(false)
    await expect(batch.files.writeFile('/six', '')).rejects.toMatchObject({ code: 'storage-full' })
    await expect(batch.files.mkdir('/six')).rejects.toMatchObject({ code: 'storage-full' })
    expect(await batch.commit()).toEqual([])
  })

  test('is rejected for the paths that another has taken, and stored for the others', async () => {
    const { batch, fs } = await open()
    await batch.files.writeFile('/a', 'a')
    await batch.files.mkdir('/b')
    await batch.files.writeFile('/c', 'c')
    await batch.files.appendFile('/d/old', '!')
    await fs.mkdir('/a')
    await fs.writeFile('/b', 'file')
    const rejected = await batch.commit()
    expect(rejected.map(({ path, error }) => [path, error.code])).toEqual([
      ['/a', 'is-directory'],
      ['/b', 'already-exists'],
    ])
    expect(await batch.commit()).toEqual([])
    expect([textOf(await fs.readFile('/c')), textOf(await fs.readFile('/d/old'))]).toEqual([
      'c',
      'old!',
    ])
  })

  test('moves on to the bucket when a file has grown too large for the database', async () => {
    const bucket = new MapBucket()
    const { batch, fs, storage } = await open({ r2: bucket, inlineThresholdBytes: 6, partBytes: 4 })
    await batch.files.appendFile('/d/old', '123')
    await batch.commit()
    expect(bucket.objects.size).toBe(0)
    await batch.files.appendFile('/d/old', '4')
    // What needs all of it waits for that too.
    await batch.files.ls('/')
    expect(bucket.objects.size).toBe(2)
    expect(await batch.commit()).toEqual([])
    expect(textOf(await fs.readFile('/d/old'))).toBe('old1234')
    expect(databaseFaults(storage)).toEqual([])
  })

  test('fails whole, and so does each later call, when the files are gone', async () => {
    const { batch, ws } = await open()
    await batch.files.writeFile('/a', 'a')
    await batch.files.writeFile('/b', 'b')
    await ws.close()
    await expect(batch.commit()).rejects.toMatchObject({ code: 'lost' })
    await expect(batch.commit()).rejects.toMatchObject({ code: 'lost' })
    await expect(batch.files.writeFile('/c', 'c')).rejects.toMatchObject({ code: 'lost' })
  })
})
