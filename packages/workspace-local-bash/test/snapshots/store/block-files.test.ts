import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { SNAPSHOT_BLOCK_BYTES } from '@helix-agents/core/provider'
import { describe, expect, it } from 'vitest'
import { BlockFiles, sha256 } from '../../../src/snapshots/store/block-files.ts'
import { useDirectory } from './store-fixture.ts'

const directory = useDirectory()
const SYNC_BYTES = 64 * 1024

const files = (): BlockFiles => new BlockFiles(directory())
const blockOf = (content: string | Uint8Array) => {
  const bytes = Buffer.from(content)
  return { hash: sha256(bytes), bytes }
}
const pathOf = (hash: string): string => join(directory(), hash.slice(0, 2), hash.slice(2))

describe('a block', () => {
  it('is stored for its user only, and found by its hash', async () => {
    const blocks = files()
    const block = blockOf('one')
    expect([blocks.has(block.hash), blocks.get(block.hash), blocks.stat(block.hash)]).toEqual([
      false,
      undefined,
      undefined,
    ])
    await blocks.put(block, 1_234_567)
    expect(blocks.has(block.hash)).toBe(true)
    expect(await blocks.get(block.hash)).toEqual(Uint8Array.from(block.bytes))
    expect(blocks.stat(block.hash)).toEqual({ bytes: 3, wantedMs: 1_234_567 })
    expect([...blocks.list()]).toEqual([block.hash])
    const modes = [pathOf(block.hash), join(directory(), block.hash.slice(0, 2))].map(
      (path) => statSync(path).mode & 0o777,
    )
    expect(modes).toEqual([0o600, 0o700])
    blocks.delete(block.hash)
    blocks.delete(block.hash)
    expect([...blocks.list()]).toEqual([])
  })
  it('that is there already is only wanted again', async () => {
    const blocks = files()
    const block = blockOf('one')
    await blocks.put(block, 1000)
    const { ino } = statSync(pathOf(block.hash))
    await blocks.put(block, 5000)
    expect(statSync(pathOf(block.hash)).ino).toBe(ino)
    expect(blocks.stat(block.hash)?.wantedMs).toBe(5000)
    expect([blocks.touch(block.hash, 9000), blocks.touch(blockOf('two').hash, 9000)]).toEqual([
      true,
      false,
    ])
    expect(blocks.stat(block.hash)?.wantedMs).toBe(9000)
  })
  it('of another length than stored is stored again', async () => {
    const blocks = files()
    const block = blockOf('whole')
    await blocks.put(block, 1000)
    truncateSync(pathOf(block.hash), 2)
    await blocks.put(block, 1000)
    expect(await blocks.get(block.hash)).toEqual(Uint8Array.from(block.bytes))
  })
  it.each([0, 1, SYNC_BYTES, SYNC_BYTES + 1, SNAPSHOT_BLOCK_BYTES])(
    'of %d bytes comes back, by a thread when it is large',
    async (length) => {
      const blocks = files()
      const block = blockOf(new Uint8Array(length).fill(7))
      await blocks.put(block, 1000)
      const read = blocks.get(block.hash)
      expect(read instanceof Promise).toBe(length > SYNC_BYTES)
      expect(Buffer.compare((await read) ?? new Uint8Array(1), block.bytes)).toBe(0)
    },
  )
  it('that cannot be named leaves no draft', async () => {
    const block = blockOf('one')
    mkdirSync(pathOf(block.hash), { recursive: true })
    await expect(files().put(block, 1000)).rejects.toMatchObject({ code: 'EISDIR' })
    expect(readdirSync(directory())).toEqual([block.hash.slice(0, 2)])
    expect(files().has(block.hash)).toBe(false)
    expect(() => files().get(block.hash)).toThrow('EISDIR')
  })
})

describe('a damaged block', () => {
  it.each([3, SYNC_BYTES + 1])('of %d bytes does not match its hash', async (length) => {
    const block = blockOf(new Uint8Array(length))
    await files().put(block, 1000)
    writeFileSync(pathOf(block.hash), new Uint8Array(length).fill(1))
    const damaged = expect.objectContaining({
      code: 'corrupt',
      message: `the stored block ${block.hash} does not match its hash`,
    })
    await expect(async () => files().get(block.hash)).rejects.toEqual(damaged)
  })
  it('is one that is longer than a block', async () => {
    const block = blockOf(new Uint8Array(SNAPSHOT_BLOCK_BYTES))
    await files().put(block, 1000)
    truncateSync(pathOf(block.hash), SNAPSHOT_BLOCK_BYTES + 1)
    await expect(async () => files().get(block.hash)).rejects.toMatchObject({ code: 'corrupt' })
  })
  it('is a link', async () => {
    const block = blockOf('one')
    await files().put(block, 1000)
    renameSync(pathOf(block.hash), join(directory(), 'elsewhere'))
    symlinkSync(join(directory(), 'elsewhere'), pathOf(block.hash))
    expect(() => files().get(block.hash)).toThrow('a stored block was replaced by a link')
    expect(files().has(block.hash)).toBe(false)
  })
  it('is none with a name that is no hash', () => {
    const problem = expect.objectContaining({
      code: 'invalid-manifest',
      message: 'that is not a hash',
    })
    for (const hash of ['', `${'a'.repeat(63)}/`, 'A'.repeat(64), `${'a'.repeat(64)}\n`]) {
      expect(() => files().has(hash)).toThrow(problem)
    }
  })
})

describe('other files among blocks', () => {
  it('are not listed', async () => {
    const block = blockOf('one')
    await files().put(block, 1000)
    mkdirSync(join(directory(), 'zz'))
    writeFileSync(join(directory(), 'zz', block.hash.slice(2)), '')
    mkdirSync(join(directory(), 'abc'))
    writeFileSync(join(directory(), 'abc', block.hash.slice(3)), '')
    writeFileSync(join(directory(), block.hash.slice(0, 2), 'other'), '')
    writeFileSync(join(directory(), block.hash.startsWith('00') ? '11' : '00'), '')
    expect([...files().list()]).toEqual([block.hash])
  })
  it('are removed when they are drafts of an interrupted put, and old', () => {
    for (const name of ['draft-old', 'draft-young', 'other']) {
      writeFileSync(join(directory(), name), '')
      utimesSync(join(directory(), name), 1, name === 'draft-young' ? 2 : 1)
    }
    files().deleteDrafts(1000)
    expect(existsSync(join(directory(), 'draft-old'))).toBe(true)
    files().deleteDrafts(2000)
    expect(readdirSync(directory())).toEqual(['draft-young', 'other'])
    const gone = new BlockFiles(join(directory(), 'gone'))
    gone.deleteDrafts(2000)
    expect([...gone.list()]).toEqual([])
  })
  it('are none when the folder of a block is gone: it cannot be wanted again', async () => {
    const blocks = files()
    const block = blockOf('one')
    await blocks.put(block, 1000)
    rmSync(join(directory(), block.hash.slice(0, 2)), { recursive: true })
    expect(blocks.touch(block.hash, 1000)).toBe(false)
  })
})
