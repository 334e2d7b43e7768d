// Contents that several files share, that hold text, and that move to the bucket: in Node, over its SQLite.
import type { FileSystem } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import { flags } from '../../src/tree/node.ts'
import { databaseFaults } from '../crash/audit.ts'
import { countStatements } from '../counted-storage.ts'
import { MapBucket } from '../map-bucket.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

const BLOCK = 65_536
const MIN_INNER = 16_384

async function open(setup: ProviderSetup = {}) {
  const storage = new NodeStorage()
  const counted = countStatements(storage)
  const provider = createProvider(counted.storage, setup)
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const fs = ws.fs as FileSystem
  const textOf = async (path: string) => new TextDecoder().decode(await fs.readFile(path))
  const flagsOf = (name: string): number => {
    const [row] = storage.sql
      .exec('SELECT flags FROM helix_fs_nodes WHERE name = ?', name)
      .toArray()
    return Number(row?.flags)
  }
  const blocks = (): unknown[] =>
    storage.sql
      .exec('SELECT size FROM helix_fs_blocks ORDER BY id')
      .toArray()
      .map(({ size }) => size)
  return { storage, statements: counted.statements, fs, textOf, flagsOf, blocks }
}

describe('a content', () => {
  test.each([['/a'], ['/b'], ['/c']])(
    'of three files is there until the last is gone: %s',
    async (left) => {
      const { storage, fs, textOf, blocks } = await open()
      await fs.writeFile('/a', 'shared')
      await fs.copy('/a', '/b')
      await fs.copy('/b', '/c')
      expect(blocks()).toEqual([6])
      for (const path of ['/a', '/b', '/c'].filter((each) => each !== left)) await fs.rm(path)
      expect([await textOf(left), blocks()]).toEqual(['shared', [6]])
      expect(databaseFaults(storage)).toEqual([])
      await fs.rm(left)
      expect(blocks()).toEqual([])
      expect(storage.sql.exec('SELECT * FROM helix_fs_shares').toArray()).toEqual([])
    },
  )

  test.each(['writeFile', 'appendFile'] as const)(
    'that is shared is not changed for the others by %s',
    async (call) => {
      const { storage, fs, textOf } = await open()
      await fs.writeFile('/a', 'shared')
      await fs.copy('/a', '/b')
      await fs.copy('/a', '/c')
      await fs[call]('/b', ' more')
      const changed = call === 'writeFile' ? ' more' : 'shared more'
      expect([await textOf('/a'), await textOf('/b'), await textOf('/c')]).toEqual([
        'shared',
        changed,
        'shared',
      ])
      expect(databaseFaults(storage)).toEqual([])
    },
  )

  test.each([
    ['text', 'a\0', flags.text | flags.binary],
    ['a\0', 'text', flags.text],
    ['text', Uint8Array.of(65), 0],
  ])(
    '%j, written over by %j without being known, has the flags of that',
    async (first, second, expected) => {
      const { storage, fs } = await open()
      await fs.writeFile('/a', first)
      const { ws } = await createProvider(storage).open(
        { kind: 'cloudflare-filestore' },
        session,
        openOptions(),
      )
      await ws.fs?.writeFile('/a', second)
      const [row] = storage.sql.exec("SELECT flags FROM helix_fs_nodes WHERE name = 'a'").toArray()
      expect(row?.flags).toBe(expected)
    },
  )

  test('of no bytes has no blocks to remove', async () => {
    const { fs, statements } = await open()
    for (const content of ['', 'text']) await fs.writeFile(`/${content}.txt`, content)
    const removalsOf = async (path: string): Promise<number> => {
      statements.length = 0
      await fs.rm(path)
      return statements.filter((one) => one.includes('DELETE FROM helix_fs_blocks')).length
    }
    expect([await removalsOf('/.txt'), await removalsOf('/text.txt')]).toEqual([0, 1])
  })

  test('that appends at once make too large is sent to the bucket once', async () => {
    const bucket = new MapBucket()
    const { fs, textOf } = await open({ r2: bucket, inlineThresholdBytes: 3, partBytes: 100 })
    await fs.writeFile('/a', 'ab')
    await Promise.all(['cd', 'ef', 'gh'].map((text) => fs.appendFile('/a', text)))
    expect(bucket.asked.filter((call) => call === 'put')).toHaveLength(1)
    expect(await textOf('/a')).toBe('abcdefgh')
  })

  test('that several share in the bucket is there until the last is gone', async () => {
    const bucket = new MapBucket()
    const { storage, fs, textOf } = await open({
      r2: bucket,
      inlineThresholdBytes: 3,
      partBytes: 4,
    })
    await fs.writeFile('/a', 'shared')
    await fs.copy('/a', '/b')
    await fs.copy('/a', '/c')
    await fs.appendFile('/b', '!')
    const refs = () =>
      storage.sql
        .exec('SELECT refs FROM helix_fs_objects ORDER BY id')
        .toArray()
        .map((row) => row.refs)
    expect(refs()).toEqual([2, 2])
    await fs.rm('/a')
    expect(await textOf('/c')).toBe('shared')
    await fs.rm('/c')
    expect([await textOf('/b'), refs()]).toEqual(['shared!', [1, 1]])
    await fs.rm('/b')
    expect(refs()).toEqual([0, 0])
    expect(storage.sql.exec('SELECT * FROM helix_fs_blocks').toArray()).toEqual([])
  })

  test.each<readonly [string | Uint8Array, string | Uint8Array, boolean, boolean]>([
    ['', 'text', true, false],
    [new Uint8Array(), 'text', true, false],
    ['a', 'text', true, false],
    [Uint8Array.of(65), 'text', false, false],
    ['text', Uint8Array.of(65), false, false],
    ['text', 'a\0', true, true],
    [Uint8Array.of(0), 'text', false, true],
    ['', Uint8Array.of(0), false, true],
    [Uint8Array.of(65), Uint8Array.of(65), false, false],
  ])('of %j and %j is text: %s, and binary: %s', async (first, second, isText, isBinary) => {
    const { fs, flagsOf } = await open()
    await fs.writeFile('/a', first)
    await fs.appendFile('/a', second)
    const has = flagsOf('a')
    expect([(has & flags.text) !== 0, (has & flags.binary) !== 0]).toEqual([isText, isBinary])
  })

  test.each<readonly [string, readonly string[], number]>([
    ['text', ['te', 'xt'], 0],
    ['a NUL', ['te', 'x\0t', 'more'], flags.binary],
    ['nothing', [], 0],
  ])('of a stream of %s has flags of its own', async (_, pieces, expected) => {
    const stream = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
          controller.close()
        },
      })
    const { fs, flagsOf } = await open()
    await fs.writeStream('/a', stream())
    expect(flagsOf('a')).toBe(expected)
    const inBucket = await open({ r2: new MapBucket(), inlineThresholdBytes: 2, partBytes: 2 })
    await inBucket.fs.writeStream('/a', stream())
    const spilled = pieces.length === 0 ? 0 : flags.spilled
    expect(inBucket.flagsOf('a')).toBe(expected | spilled)
  })

  test.each([
    [MIN_INNER, [BLOCK, MIN_INNER, BLOCK, 7]],
    [MIN_INNER - 1, [BLOCK, BLOCK, MIN_INNER - 1 + 7]],
    [2 * BLOCK, [BLOCK, 2 * BLOCK, BLOCK, 7]],
    [2 * BLOCK + 1, [BLOCK, BLOCK, BLOCK, BLOCK, 8]],
  ])(
    'keeps the blocks around a change of %i bytes, unless it is too small or too large',
    async (length, sizes) => {
      const { fs, storage, blocks } = await open()
      const [head, old, tail, end] = ['a', 'b', 'c', 'd']
      const whole = (middle: string) =>
        head.repeat(BLOCK) + middle + tail.repeat(BLOCK) + end.repeat(7)
      await fs.writeFile('/f', whole(old.repeat(BLOCK)))
      await fs.writeFile('/f', whole('e'.repeat(length)))
      expect(blocks()).toEqual(sizes)
      expect((await fs.readText?.('/f')) === whole('e'.repeat(length))).toBe(true)
      expect(databaseFaults(storage)).toEqual([])
    },
  )
})

describe('the end of a file in the bucket', () => {
  test('stays in the database up to the threshold', async () => {
    const bucket = new MapBucket()
    const { fs, textOf, storage } = await open({
      r2: bucket,
      inlineThresholdBytes: 3,
      partBytes: 4,
    })
    await fs.writeFile('/a', 'abcd')
    for (const [piece, objects] of [
      ['x', 1],
      ['yz', 1],
      ['1', 2],
    ] as const) {
      await fs.appendFile('/a', piece)
      expect([piece, bucket.objects.size]).toEqual([piece, objects])
    }
    expect(await textOf('/a')).toBe('abcdxyz1')
    expect(databaseFaults(storage)).toEqual([])
  })
})

describe('a file that was just written', () => {
  test('is read by one statement, of whichever form', async () => {
    const { fs, statements } = await open()
    await fs.writeFile('/a', 'known')
    for (const read of ['readFile', 'readText'] as const) {
      statements.length = 0
      const content = await fs[read]?.('/a')
      expect(typeof content === 'string' ? content : new TextDecoder().decode(content)).toBe(
        'known',
      )
      expect([read, statements.length, statements[0]?.includes('helix_fs_nodes')]).toEqual([
        read,
        1,
        false,
      ])
    }
  })

  test('is read whole up to the limit', async () => {
    const { fs } = await open({ maxWholeReadBytes: 10 })
    await fs.writeFile('/a', 'x'.repeat(10))
    await fs.writeFile('/b', 'x'.repeat(11))
    for (const read of ['readFile', 'readText'] as const) {
      expect((await fs[read]?.('/a'))?.length).toBe(10)
      await expect(fs[read]?.('/b')).rejects.toMatchObject({
        code: 'too-large',
        message: expect.stringContaining('11 bytes; at most 10 are read at once'),
        hint: 'Read it in ranges, or as a stream.',
      })
    }
  })

  test('is not the one that another isolate has changed', async () => {
    const { storage, fs, textOf } = await open()
    await fs.writeFile('/a', 'known')
    const { sql } = storage
    const other = createProvider({
      sql: { exec: (statement, ...bindings) => sql.exec(statement, ...bindings) },
      transactionSync: (work) => storage.transactionSync(work),
    })
    const { ws } = await other.open({ kind: 'cloudflare-filestore' }, session, openOptions())
    await ws.fs?.writeFile('/a', 'changed')
    expect([await textOf('/a'), await fs.readText?.('/a')]).toEqual(['changed', 'changed'])
    await ws.fs?.rm('/a')
    await expect(fs.readFile('/a')).rejects.toMatchObject({ code: 'not-found' })
  })
})
