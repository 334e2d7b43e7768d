// How a content is changed in the database, block by block: in Node, over its SQLite.
import type { FileSystem } from '@helix-agents/core/provider'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addObjectBlock } from '../../src/content/add-blocks.ts'
import type { StoreContext } from '../../src/store-context.ts'
import { BLOCKS_PER_CONTENT, flags } from '../../src/tree/node.ts'
import { countStatements } from '../counted-storage.ts'
import { databaseFaults } from '../crash/audit.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'

const BLOCK = 65_536

async function open() {
  const storage = new NodeStorage()
  const counted = countStatements(storage)
  const provider = createProvider(counted.storage)
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const blocks = (): unknown[] =>
    storage.sql
      .exec('SELECT size FROM helix_fs_blocks ORDER BY id')
      .toArray()
      .map(({ size }) => size)
  /** Statements on blocks while something is done: what each begins with. */
  const writes = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    counted.statements.length = 0
    await work()
    return counted.statements.flatMap((statement) => {
      const isOnBlocks = /^\s*(INSERT INTO|UPDATE|DELETE FROM) helix_fs_blocks/.test(statement)
      return isOnBlocks ? [statement.trim().split(' ')[0] ?? ''] : []
    })
  }
  return { storage, fs: ws.fs as FileSystem, blocks, writes }
}

/** Bytes of which no two blocks are alike. */
function bytesOf(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  for (let at = 0, state = seed; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[at] = 1 + ((state >>> 16) % 255)
  }
  return bytes
}

/** Compared here: an assertion takes seconds to compare so many. */
async function isStored(fs: FileSystem, bytes: Uint8Array): Promise<boolean> {
  const stored = await fs.readFile('/f')
  return stored.length === bytes.length && stored.every((byte, index) => byte === bytes[index])
}

function changed(bytes: Uint8Array, at: number): Uint8Array<ArrayBuffer> {
  const copy = Uint8Array.from(bytes)
  copy[at] = (copy[at] ?? 0) === 1 ? 2 : 1
  return copy
}

test('an append fills the last block, then adds others', async () => {
  const { fs, blocks } = await open()
  const whole = bytesOf(3 * BLOCK)
  await fs.writeFile('/f', whole.subarray(0, BLOCK - 10))
  await fs.appendFile('/f', whole.subarray(BLOCK - 10, BLOCK))
  expect(blocks()).toEqual([BLOCK])
  await fs.appendFile('/f', whole.subarray(BLOCK, BLOCK + 1))
  expect(blocks()).toEqual([BLOCK, 1])
  await fs.appendFile('/f', whole.subarray(BLOCK + 1, 2 * BLOCK + 5))
  expect(blocks()).toEqual([BLOCK, BLOCK, 5])
  expect(await isStored(fs, whole.subarray(0, 2 * BLOCK + 5))).toBe(true)
})

test('a change writes the blocks that differ, wherever they are', async () => {
  const { fs, blocks, writes } = await open()
  let bytes = bytesOf(4 * BLOCK)
  await fs.writeFile('/f', bytes)
  for (const at of [0, BLOCK, 2 * BLOCK + 7, 4 * BLOCK - 1]) {
    bytes = changed(bytes, at)
    expect(await writes(() => fs.writeFile('/f', bytes))).toEqual(['UPDATE'])
    expect(await isStored(fs, bytes)).toBe(true)
  }
  const inserted = Uint8Array.from([...bytes.subarray(0, 10), 7, 7, ...bytes.subarray(10)])
  expect(await writes(() => fs.writeFile('/f', inserted))).toEqual(['UPDATE'])
  expect(blocks()).toEqual([BLOCK + 2, BLOCK, BLOCK, BLOCK])
  expect(await isStored(fs, inserted)).toBe(true)
  expect(await writes(() => fs.writeFile('/f', inserted))).toEqual([])
  const cut = inserted.slice(0, 2 * BLOCK)
  expect(await writes(() => fs.writeFile('/f', cut))).toContain('DELETE')
  expect(await isStored(fs, cut)).toBe(true)
})

test('a content of one block is written without a look at it, up to a block', async () => {
  const { fs, blocks, writes } = await open()
  await fs.writeFile('/f', bytesOf(10))
  for (const length of [20, BLOCK]) {
    const bytes = bytesOf(length, 2)
    await fs.writeFile('/f', bytes)
    expect([blocks(), await isStored(fs, bytes)]).toEqual([[length], true])
  }
  const bytes = bytesOf(3 * BLOCK + 1, 3)
  expect((await writes(() => fs.writeFile('/f', bytes))).length).toBeGreaterThan(3)
  expect(blocks()).toEqual([BLOCK, BLOCK, BLOCK, 1])
  await fs.writeFile('/f', '')
  expect([blocks(), await fs.readFile('/f')]).toEqual([[], new Uint8Array()])
})

test('whatever a content becomes, it is that, in blocks that are not too large', async () => {
  const edit = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.constantFrom(0, 1, 20_000, BLOCK, 3 * BLOCK),
    added: fc.constantFrom(0, 1, 15_000, BLOCK - 1, BLOCK, 2 * BLOCK + 1),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 5 }), async (edits) => {
      const { storage, fs, blocks } = await open()
      let bytes: Uint8Array<ArrayBuffer> = bytesOf(2 * BLOCK + 100)
      await fs.writeFile('/f', bytes)
      for (const [index, { at, removed, added }] of edits.entries()) {
        const start = Math.floor(at * bytes.length)
        const parts = [
          bytes.subarray(0, start),
          bytesOf(added, index + 9),
          bytes.subarray(start + removed),
        ]
        bytes = new Uint8Array(await new Blob(parts).arrayBuffer())
        await fs.writeFile('/f', bytes)
        expect(await isStored(fs, bytes)).toBe(true)
        const sizes = blocks().map(Number)
        expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(2 * BLOCK)
        expect(Math.min(16_384, ...sizes.slice(0, -1))).toBe(16_384)
      }
      expect(databaseFaults(storage)).toEqual([])
      storage.database.close()
    }),
    { numRuns: 15 },
  )
})

const whole = (letters: readonly string[]): string =>
  letters.map((one) => one.repeat(BLOCK)).join('')

test.each<readonly [string, readonly string[], boolean, boolean]>([
  ['bytes, of which both ends stay', ['a', 'x', 'c'], false, false],
  ['bytes, of which the start stays', ['a', 'x', 'y'], false, false],
  ['bytes, of which the end stays', ['x', 'y', 'c'], false, false],
  ['bytes, of which nothing stays', ['x', 'y', 'z'], false, true],
  ['text, of which both ends stay', ['a', 'x', 'c'], true, true],
])('%s, are written over by a text', async (_, letters, wasText, isText) => {
  const { storage, fs } = await open()
  const before = whole(['a', 'b', 'c'])
  await fs.writeFile('/f', wasText ? before : new TextEncoder().encode(before))
  await fs.writeFile('/f', whole(letters))
  const [row] = storage.sql.exec("SELECT flags FROM helix_fs_nodes WHERE name = 'f'").toArray()
  expect((Number(row?.flags) & flags.text) !== 0).toBe(isText)
  expect((await fs.readText?.('/f')) === whole(letters)).toBe(true)
})

test('a content has its number of blocks, and no more', () => {
  const statements: string[] = []
  const context = {
    database: { run: (statement: string) => void statements.push(statement) },
  } as unknown as StoreContext
  const object = { id: 1, size: 5 }
  const content = { id: 0, size: 7, flags: 0 }
  const last = { ...content, blocks: BLOCKS_PER_CONTENT - 1 }
  expect(addObjectBlock(context, last, object)).toEqual({
    ...content,
    size: 12,
    blocks: BLOCKS_PER_CONTENT,
  })
  expect(statements.length).toBe(2)
  const full = { ...content, blocks: BLOCKS_PER_CONTENT }
  expect(() => addObjectBlock(context, full, object)).toThrow(
    expect.objectContaining({ code: 'too-large' }),
  )
  expect(statements.length).toBe(2)
})
