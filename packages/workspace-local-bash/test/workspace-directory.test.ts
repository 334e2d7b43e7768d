import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { MARKER_NAME, ownMarker, writeOwner } from '../src/owner.ts'
import {
  createDirectory,
  createForkDirectory,
  findDirectory,
  isOwnDirectory,
  removeDirectory,
  restoreDirectory,
  workspacesIn,
} from '../src/workspace-directory.ts'
import { beforeFsCall } from './before-fs-call.ts'
import { useDirectory } from './snapshots/store/store-fixture.ts'

const root = useDirectory()
const LOST = { code: 'lost', message: 'the directory of the workspace is gone' }

describe('the directory of a workspace', () => {
  it('is made below that of all, which is made too, and is of its user alone', () => {
    const all = join(root(), 'a/b')
    const made = createDirectory(all)
    expect(made).toMatchObject({ isFork: false, path: join(all, made.name) })
    expect(made.name).toMatch(/^helix-ws-[A-Za-z0-9]{6}$/)
    expect([made.root, made.scratch, made.tmp]).toEqual(
      ['root', 'scratch', 'tmp'].map((part) => join(made.path, part)),
    )
    expect([lstatSync(made.path).mode & 0o777, readdirSync(made.path)]).toEqual([0o700, []])
    restoreDirectory(made)
    expect(readdirSync(made.path)).toEqual(['root', 'scratch', 'tmp'])
    expect(lstatSync(made.root).mode & 0o777).toBe(0o700)
  })
  it('of a snapshot has a name that nobody guesses', () => {
    const made = createForkDirectory(root())
    expect([made.isFork, made.name]).toEqual([
      true,
      expect.stringMatching(/^helix-ws-[0-9a-f]{20}$/) as string,
    ])
    expect(findDirectory(root(), made.name)).toEqual(made)
    expect(lstatSync(made.path).mode & 0o777).toBe(0o700)
  })
  it('that cannot be made is an error for an operator', () => {
    writeFileSync(join(root(), 'file'), '')
    expect(() => createDirectory(join(root(), 'file/below'))).toThrow(
      expect.objectContaining({
        code: 'provider-failed',
        message: 'the directory of all workspaces cannot be made',
        hint: 'An operator must set `tmpdirRoot` to a directory that can be made.',
        cause: expect.objectContaining({ code: 'ENOTDIR' }) as Error,
      }),
    )
  })
  it('is found by its name, and by no other', () => {
    const made = createDirectory(root())
    expect(findDirectory(root(), made.name)).toEqual(made)
    expect(existsSync(made.scratch)).toBe(true)
    symlinkSync(made.path, join(root(), 'helix-ws-linked'))
    writeFileSync(join(root(), 'helix-ws-ofafile'), '')
    for (const name of ['helix-ws-nobody', 'helix-ws-linked', 'helix-ws-ofafile', '../x', '']) {
      expect(() => findDirectory(root(), name)).toThrow(expect.objectContaining(LOST))
    }
    expect(() => findDirectory(join(root(), 'no'), made.name)).toThrow(
      expect.objectContaining(LOST),
    )
  })
})

describe('parts of a workspace', () => {
  it('that were replaced are set aside', () => {
    const made = createDirectory(root())
    restoreDirectory(made)
    rmSync(made.root, { recursive: true })
    writeFileSync(made.root, 'kept')
    rmSync(made.tmp, { recursive: true })
    symlinkSync('/', made.tmp)
    restoreDirectory(made)
    expect([isOwnDirectory(made.root), isOwnDirectory(made.tmp)]).toEqual([true, true])
    const aside = readdirSync(made.path).filter((name) => /^replaced-[0-9a-f]{32}$/.test(name))
    expect(aside).toHaveLength(2)
    const contents = aside
      .map((name) => join(made.path, name))
      .filter((path) => lstatSync(path).isFile())
      .map((path) => readFileSync(path, 'utf8'))
    expect(contents).toEqual(['kept'])
  })
  it('that cannot be made again are an error for an operator', () => {
    const made = createDirectory(root())
    const unmade = { ...made, root: join(made.path, 'no/deeper') }
    expect(() => restoreDirectory(unmade)).toThrow(
      expect.objectContaining({
        code: 'working-directory-missing',
        message: 'the directory of the workspace is gone and cannot be made again',
        hint: 'An operator must make the directory of the workspace writable.',
        cause: expect.objectContaining({ code: 'ENOENT' }) as Error,
      }),
    )
    rmSync(made.path, { recursive: true })
    expect(() => restoreDirectory(made)).toThrow(expect.objectContaining(LOST))
  })
})

it('the workspaces of a place are those with an owner', async () => {
  expect(workspacesIn(join(root(), 'no'))).toEqual([])
  const [one, two] = [createDirectory(root()), createDirectory(root())]
  const marker = ownMarker({ env: {}, sinceMs: 5 })
  writeOwner(one.path, marker)
  mkdirSync(join(root(), 'other'))
  writeOwner(join(root(), 'other'), marker)
  symlinkSync(one.path, join(root(), 'helix-ws-linked'))
  expect(workspacesIn(root())).toEqual([{ directory: one, marker }])
  await removeDirectory(one.path)
  await removeDirectory(one.path)
  expect([existsSync(one.path), existsSync(two.path)]).toEqual([false, true])
})

it('of a workspace that is removed, its owner goes last', async () => {
  const made = createDirectory(root())
  for (let n = 0; n < 40; n += 1) writeFileSync(join(made.path, `file-${n}`), '')
  writeOwner(made.path, ownMarker({ env: {}, sinceMs: 5 }))
  const removed: string[] = []
  beforeFsCall('unlinkSync', (path) => removed.push(basename(String(path))))
  await removeDirectory(made.path)
  expect([removed.length, removed.at(-1)]).toEqual([41, MARKER_NAME])
})

it('a removal that fails is tried again after a pause, three times in all', async () => {
  const made = createDirectory(root())
  let attempts = 0
  beforeFsCall('rmdirSync', () => {
    attempts += 1
    throw Object.assign(new Error('in use'), { code: 'EBUSY' })
  })
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const removing = removeDirectory(made.path)
  const ended = Promise.allSettled([removing])
  const attemptsAfter = async (ms: number): Promise<number> => {
    await vi.advanceTimersByTimeAsync(ms)
    return attempts
  }
  expect([await attemptsAfter(19), await attemptsAfter(1)]).toEqual([1, 2])
  expect([await attemptsAfter(39), await attemptsAfter(1)]).toEqual([2, 3])
  await ended
  await expect(removing).rejects.toThrow('in use')
})
