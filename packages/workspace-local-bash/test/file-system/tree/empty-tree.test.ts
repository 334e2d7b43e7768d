import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { ANCHOR_NO_LINK } from '../../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../../src/file-system/path/pinned-directory.ts'
import { emptyTree } from '../../../src/file-system/tree/empty-tree.ts'
import { removeHostPath, removePath } from '../../../src/file-system/tree/remove-tree.ts'
import { beforeFsCall } from '../../before-fs-call.ts'
import { useFileSystem } from '../../open-file-system.ts'
import { turnsDuring } from '../../slow-machine.ts'

const opened = useFileSystem()
const at = (path: string): string => join(opened().root, path)
const names = (): string[] => readdirSync(opened().root)
const coded = (code: string, path: string) => expect.objectContaining({ code, path })

const remove = (path: string, isRecursive = false): Promise<void> =>
  removePath(opened().fs.context, path, isRecursive)

beforeEach(() => {
  mkdirSync(at('top/a/b/c'), { recursive: true })
  mkdirSync(at('top/empty'))
  for (const file of ['top/1', 'top/a/2', 'top/a/b/3', 'kept']) writeFileSync(at(file), file)
  symlinkSync('../kept', at('top/link'))
  symlinkSync('../../kept', at('top/a/link'))
})

async function empty(path: string, keep?: string): Promise<void> {
  const top = PinnedDirectory.open(at(path), ANCHOR_NO_LINK)
  try {
    await emptyTree(top, keep)
  } finally {
    top.close()
  }
}

describe('a directory is emptied', () => {
  it('of files, links and trees; what links lead to stays', async () => {
    await empty('top')
    expect([names(), readdirSync(at('top'))]).toEqual([['kept', 'top'], []])
    expect(readFileSync(at('kept'), 'utf8')).toBe('kept')
    await empty('top')
    expect(readdirSync(at('top'))).toEqual([])
  })
  it.each(['1', 'link', 'a', 'empty'])('but for %s', async (keep) => {
    await empty('top', keep)
    expect(readdirSync(at('top'))).toEqual([keep])
  })
  it('in 64 passes that remove nothing, and no more, while another keeps what is in it', async () => {
    const top = PinnedDirectory.open(at('top'), ANCHOR_NO_LINK)
    let opens = 0
    // The directory is gone whenever it is opened, and there again in the next pass.
    const busy = Object.assign(Object.create(top) as PinnedDirectory, {
      makeAccessible: () => top.makeAccessible(),
      child: () => {
        opens += 1
        throw Object.assign(new Error('gone'), { code: 'ENOENT' })
      },
    })
    await expect(emptyTree(busy)).rejects.toMatchObject({
      code: 'ENOTEMPTY',
      message: 'entries are added as fast as they are removed',
    })
    top.close()
    // In the first pass the other entries were removed.
    expect([opens, readdirSync(at('top'))]).toEqual([65, ['a']])
  })
  it('also where modes forbid it', async () => {
    for (const path of ['top/a/b/c', 'top/a/b', 'top/a', 'top']) chmodSync(at(path), 0o000)
    if (process.getuid?.() !== 0) chmodSync(at('top'), 0o400)
    await empty('top')
    expect(readdirSync(at('top'))).toEqual([])
  })
  it('also of names that are no text', async () => {
    const odd = Buffer.concat([Buffer.from(at('top/')), Buffer.from([0xff, 0xe9])])
    mkdirSync(Buffer.concat([odd, Buffer.from('/deeper')]), { recursive: true })
    writeFileSync(Buffer.concat([odd, Buffer.from('/\u00e4\n')]), 'x')
    mkdirSync(at('top/wörter/水'), { recursive: true })
    await empty('top')
    expect(readdirSync(at('top'))).toEqual([])
  })
})

describe('a path of the host is removed', () => {
  it.each([
    ['a tree', 'top', ['kept']],
    ['an empty directory', 'top/empty', ['kept', 'top']],
    ['a file', 'kept', ['top']],
    ['a link', 'top/link', ['kept', 'top']],
    ['nothing', 'top/no', ['kept', 'top']],
    ['nothing below what is missing', 'no/no', ['kept', 'top']],
  ])('%s', async (_, path, left) => {
    await removeHostPath(at(path))
    expect([existsSync(at(path)), names()]).toEqual([false, left])
  })
  it('with one entry that goes last', async () => {
    await removeHostPath(at('top'), 'a')
    expect(names()).toEqual(['kept'])
  })
  it('or the error of the system says why not', async () => {
    await expect(removeHostPath(at('kept/below'))).rejects.toThrow('ENOTDIR')
    await expect(removeHostPath(at('x'.repeat(300)))).rejects.toThrow('ENAMETOOLONG')
    await expect(removeHostPath(`${at('top')}/.`)).rejects.toThrow('EINVAL')
    expect(existsSync(at('top/1'))).toBe(true)
  })
})

describe('a path of the workspace is removed', () => {
  it('files, links and empty directories by their name', async () => {
    for (const path of ['/top/1', '/top/link', '/top/empty']) await remove(path)
    expect([readdirSync(at('top')), names()]).toEqual([['a'], ['kept', 'top']])
  })
  it('trees when that is wanted', async () => {
    await expect(remove('/top')).rejects.toThrow(coded('not-empty', '/top'))
    expect(readdirSync(at('top'))).toHaveLength(4)
    await remove('/top/a', true)
    expect(readdirSync(at('top'))).toEqual(['1', 'empty', 'link'])
    await remove('/top/empty', true)
    await remove('/top/1', true)
    expect(readdirSync(at('top'))).toEqual(['link'])
  })
  it('the root keeps itself', async () => {
    await expect(remove('/')).rejects.toThrow(coded('not-empty', '/'))
    await remove('/', true)
    expect(names()).toEqual([])
    await remove('/')
    expect(existsSync(opened().root)).toBe(true)
  })
  it('what is not there is an error', async () => {
    await expect(remove('/no', true)).rejects.toThrow(coded('not-found', '/no'))
    await expect(remove('/kept/x', true)).rejects.toThrow(coded('not-directory', '/kept/x'))
  })
})

it('other work has its turns while a tree is removed', async () => {
  mkdirSync(at('many'))
  for (let n = 0; n < 20; n += 1) writeFileSync(at(`many/${n}`), '')
  expect(await turnsDuring(() => removeHostPath(at('many')))).toBeGreaterThanOrEqual(20)
})

it('an error of the system on the way through the root names the root', async () => {
  beforeFsCall('opendirSync', () => {
    throw Object.assign(new Error('no'), { code: 'EACCES' })
  })
  await expect(remove('/', true)).rejects.toThrow(coded('permission-denied', '/'))
})
