import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseLocalBashConfig } from '../src/config.ts'
import {
  detachedMarker,
  hashSession,
  isOwnedBy,
  isOwnerAlive,
  isOwnerElsewhere,
  MARKER_NAME,
  ownMarker,
  type OwnerMarker,
  readOwner,
  watchOwner,
  writeOwner,
} from '../src/owner.ts'
import { parseRef, toRef } from '../src/ref.ts'
import { bootId, processPlace, readProcess } from '../src/shell/processes/process-table.ts'
import {
  createDirectory,
  createForkDirectory,
  findDirectory,
  isOwnDirectory,
  removeDirectory,
  restoreDirectory,
  workspacesIn,
} from '../src/workspace-directory.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'helix-owner-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const details = { session: 's', line: 'l', isolation: 'none', env: { A: '1' }, sinceMs: 5 } as const
const own = ownMarker(details)
const countOpen = (): number => readdirSync('/proc/self/fd').length
const ofProcess = (more: object): OwnerMarker =>
  ({ ...own, process: { ...own.process, ...more } }) as OwnerMarker

describe('the marker of an owner', () => {
  it('names this process, and what the owner has to know', () => {
    expect(own).toEqual({
      format: 1,
      ...details,
      process: {
        pid: process.pid,
        startTime: readProcess(process.pid)?.startTime,
        bootId: bootId(),
        place: processPlace(),
      },
    })
    const { process: _, ...detached } = own
    expect(detachedMarker(own, 7)).toEqual({ ...detached, sinceMs: 7 })
    expect(hashSession('s')).toMatch(/^[0-9a-f]{64}$/)
  })
  it('is read as it was written, and replaced in one step', () => {
    const isSame = watchOwner(base)
    expect(isSame()).toBe(true)
    writeOwner(base, own)
    const isStill = watchOwner(base)
    expect([isSame(), isStill(), readOwner(base)]).toEqual([false, true, own])
    expect(statSync(join(base, MARKER_NAME)).mode & 0o777).toBe(0o600)
    writeOwner(base, detachedMarker(own, 7))
    expect([isStill(), readOwner(base)]).toEqual([false, detachedMarker(own, 7)])
    expect(readdirSync(base)).toEqual([MARKER_NAME])
  })
  it('that cannot be written leaves no draft', () => {
    mkdirSync(join(base, MARKER_NAME))
    expect(() => writeOwner(base, own)).toThrow('EISDIR')
    expect(readdirSync(base)).toEqual([MARKER_NAME])
  })
  it('is none when it is not valid, and no file stays open', () => {
    const path = join(base, MARKER_NAME)
    const before = countOpen()
    expect(readOwner(base)).toBeUndefined()
    const text = JSON.stringify(own)
    for (const written of ['', '{', 'null', JSON.stringify({ ...own, format: 2 })]) {
      writeFileSync(path, written)
      expect(readOwner(base)).toBeUndefined()
    }
    writeFileSync(path, text + ' '.repeat(1024 * 1024 - text.length))
    expect(readOwner(base)).toEqual(own)
    writeFileSync(path, text + ' '.repeat(1024 * 1024 - text.length + 1))
    expect(readOwner(base)).toBeUndefined()
    rmSync(path)
    writeFileSync(join(base, 'aside'), text)
    symlinkSync(join(base, 'aside'), path)
    expect(readOwner(base)).toBeUndefined()
    rmSync(path)
    linkSync(join(base, 'aside'), path)
    expect(readOwner(base)).toEqual(own)
    rmSync(path)
    execFileSync('mkfifo', [path])
    expect(readOwner(base)).toBeUndefined()
    expect(countOpen()).toBe(before)
  })
  it('is none of another user', () => {
    writeOwner(base, own)
    vi.spyOn(process, 'getuid').mockReturnValue(1_000_000)
    expect(readOwner(base)).toBeUndefined()
  })
  it('is still that of this owner', () => {
    expect(isOwnedBy(base, own)).toBe(false)
    writeOwner(base, own)
    expect([isOwnedBy(base, own), isOwnedBy(base, detachedMarker(own, 7))]).toEqual([true, false])
    for (const other of [{ pid: 1 }, { startTime: 1 }]) {
      expect(isOwnedBy(base, ofProcess(other))).toBe(false)
    }
    writeOwner(base, detachedMarker(own, 7))
    expect(isOwnedBy(base, own)).toBe(false)
  })
})

describe('an owner', () => {
  it.each([
    ['this process', {}, true, false],
    ['one that began at another time', { startTime: 1 }, false, false],
    ['one before the host started', { bootId: 'earlier' }, false, false],
    ['one that is gone', { pid: 2 ** 30 }, false, false],
    ['this process, by an older release', { place: undefined }, true, false],
    ['one elsewhere', { place: 'another-host' }, false, true],
  ])('is %s', (_, more, isAlive, isElsewhere) => {
    const marker = ofProcess(more)
    expect([isOwnerAlive(marker), isOwnerElsewhere(marker)]).toEqual([isAlive, isElsewhere])
  })
  it('is none while it is detached', () => {
    const detached = detachedMarker(own, 7)
    expect([isOwnerAlive(detached), isOwnerElsewhere(detached)]).toEqual([false, false])
  })
})

describe('the directory of a workspace', () => {
  it('is made with its parents, and found by its name', () => {
    const root = join(base, 'a', 'b')
    const made = createDirectory(root)
    expect(made).toEqual({
      name: expect.stringMatching(/^helix-ws-[A-Za-z0-9]{6}$/),
      isFork: false,
      path: join(root, made.name),
      root: join(root, made.name, 'root'),
      scratch: join(root, made.name, 'scratch'),
      tmp: join(root, made.name, 'tmp'),
    })
    expect(readdirSync(made.path)).toEqual([])
    expect(findDirectory(root, made.name)).toEqual(made)
    expect(readdirSync(made.path)).toEqual(['root', 'scratch', 'tmp'])
    expect(statSync(made.root).mode & 0o777).toBe(0o700)
    const fork = createForkDirectory(root)
    expect(fork).toMatchObject({ isFork: true, name: expect.stringMatching(/^helix-ws-\w{20}$/) })
    expect(statSync(fork.path).mode & 0o777).toBe(0o700)
  })
  it('that is gone, or has no name of one, is lost', () => {
    const lost = expect.objectContaining({
      code: 'lost',
      admitted: 'no',
      message: 'the directory of the workspace is gone',
    })
    mkdirSync(join(base, 'other'))
    expect(() => findDirectory(base, 'helix-ws-abcdef')).toThrow(lost)
    expect(() => findDirectory(base, 'other')).toThrow(lost)
    expect(() => findDirectory(join(base, 'gone'), 'helix-ws-abcdef')).toThrow(lost)
    writeFileSync(join(base, 'file'), '')
    expect(() => findDirectory(join(base, 'file', 'in'), 'helix-ws-abcdef')).toThrow('ENOTDIR')
  })
  it('sets aside what stands in the place of a part', () => {
    const made = createDirectory(base)
    writeFileSync(made.root, 'of a command')
    restoreDirectory(made)
    const [aside = ''] = readdirSync(made.path).filter((name) => /^replaced-\w{32}$/.test(name))
    expect(readFileSync(join(made.path, aside), 'utf8')).toBe('of a command')
    expect(readdirSync(made.path)).toHaveLength(4)
    restoreDirectory(made)
    expect(readdirSync(made.path)).toHaveLength(4)
  })
  it('of which a part cannot be made says so', () => {
    const made = createDirectory(base)
    expect(() => restoreDirectory({ ...made, tmp: join(made.path, 'gone', 'tmp') })).toThrow(
      expect.objectContaining({
        code: 'working-directory-missing',
        message: 'the directory of the workspace is gone and cannot be made again',
        hint: 'An operator must make the directory of the workspace writable.',
      }),
    )
  })
  it('is one of this user, and no link', () => {
    symlinkSync(base, join(base, 'link'))
    writeFileSync(join(base, 'file'), '')
    const paths = [base, join(base, 'link'), join(base, 'file'), join(base, 'gone')]
    expect(paths.map(isOwnDirectory)).toEqual([true, false, false, false])
  })
  it('is among all with a marker', async () => {
    const [made, unmarked] = [createDirectory(base), createDirectory(base)]
    mkdirSync(join(base, 'helix-ws-'))
    writeOwner(join(base, 'helix-ws-'), own)
    writeOwner(made.path, own)
    expect(workspacesIn(base)).toEqual([{ directory: made, marker: own }])
    expect(workspacesIn(join(base, 'gone'))).toEqual([])
    await removeDirectory(made.path)
    await removeDirectory(made.path)
    expect(readdirSync(base).toSorted()).toEqual(['helix-ws-', unmarked.name].toSorted())
  })
  it('is refused where none can be made, with a hint', () => {
    writeFileSync(join(base, 'file'), '')
    chmodSync(join(base, 'file'), 0o600)
    expect(() => createDirectory(join(base, 'file', 'in'))).toThrow(
      expect.objectContaining({
        code: 'provider-failed',
        message: 'the directory of all workspaces cannot be made',
        hint: 'An operator must set `tmpdirRoot` to a directory that can be made.',
      }),
    )
  })
})

describe('what is declared and passed', () => {
  it('is a config with every problem by its field', () => {
    const config = { kind: 'local-bash', env: { 'A=B': 'x', C: 'x\0' }, isolation: 'docker' }
    const parse = (): unknown => parseLocalBashConfig(config)
    expect(parse).toThrow(/^the local-bash workspace is not declared correctly: /)
    for (const text of ['env.A=B: ', 'env.C: holds a NUL', 'isolation: '])
      expect(parse).toThrow(text)
    expect(() => parseLocalBashConfig(7)).toThrow('correctly: provider: ')
    const good = { kind: 'local-bash', isolation: 'bubblewrap', env: { _a1: '' } } as const
    expect(parseLocalBashConfig(good)).toEqual(good)
    expect(() => parseLocalBashConfig({ ...good, env: { '1a': '' } })).toThrow('env')
  })
  it('is a ref of a directory name and its isolation', () => {
    const ref = { directory: `helix-ws-${'a'.repeat(64)}`, isolation: 'bubblewrap' } as const
    expect(parseRef(toRef(ref))).toEqual(ref)
    for (const more of [
      { directory: `helix-ws-${'a'.repeat(65)}` },
      { directory: 'helix-ws-abcde' },
      { isolation: 'docker' },
      { other: 1 },
    ]) {
      const changed = { ...toRef(ref), ref: { ...ref, ...more } }
      expect(() => parseRef(changed)).toThrow(expect.objectContaining({ code: 'ref-invalid' }))
    }
    expect(() => parseRef({ ...toRef(ref), schemaVersion: 3 })).toThrow(
      expect.objectContaining({ code: 'ref-version' }),
    )
  })
  it('are options at their bounds', () => {
    const all = { maxProcesses: 301, maxConcurrentCommands: 1 }
    const snapshots = { maxSnapshots: 1, maxBytes: 1 }
    expect(new LocalBashWorkspaceProvider({ ...all, snapshots }).providerId).toBe('local-bash')
    expect(() => new LocalBashWorkspaceProvider({ maxProcesses: 300 })).toThrow(
      'maxProcesses must be a whole number of 301 or more',
    )
    expect(() => new LocalBashWorkspaceProvider({ maxConcurrentCommands: 0.5 })).toThrow(
      'maxConcurrentCommands must be 1 or more',
    )
  })
})
