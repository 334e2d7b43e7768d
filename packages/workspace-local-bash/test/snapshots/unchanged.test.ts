// What a snapshot takes over from the one before, beside a full walk that takes over nothing.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  compareCodePoints,
  digestEntries,
  joinPath,
  type SnapshotEntry,
} from '@helix-agents/core/provider'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { datedDevice, isSettled } from '../../src/snapshots/change-times.ts'

import { payloadOf, SnapshotSubject } from './snapshot-subject.ts'

let subject: SnapshotSubject
let ws: LocalBashWorkspace
let root: string
beforeEach(async () => {
  subject = await SnapshotSubject.create()
  ;({ ws, root } = subject)
})
afterEach(() => subject.host.dispose())

const at = (path: string): string => join(root, path)

/** Until then a directory counts as one that may still change unseen. */
async function settle(): Promise<void> {
  const startedMs = Date.now()
  while (!isSettled(startedMs, Date.now())) await new Promise((resolve) => setImmediate(resolve))
}

/** What is there now below a directory, itself included. */
function entriesBelow(path: string): readonly SnapshotEntry[] {
  const stats = lstatSync(at(path))
  const mode = stats.mode & 0o777
  if (stats.isSymbolicLink()) return [{ path, type: 'symlink', target: readlinkSync(at(path)) }]
  if (stats.isDirectory()) {
    const below = readdirSync(at(path)).flatMap((name) => entriesBelow(joinPath(path, name)))
    return [{ path, type: 'directory', mode }, ...below]
  }
  const bytes = readFileSync(at(path))
  const blocks = bytes.length === 0 ? [] : [createHash('sha256').update(bytes).digest('hex')]
  return [{ path, type: 'file', size: bytes.length, blocks, mode }]
}

/** As a snapshot has it that takes over nothing. */
async function digestOfAll(): Promise<string> {
  const [, ...entries] = entriesBelow('/')
  return digestEntries(entries.toSorted((a, b) => compareCodePoints(a.path, b.path)))
}

async function taken(): Promise<string> {
  return payloadOf(await ws.snapshot.snapshot()).digest
}

/** Puts another file in the place of one, with the same name, size and times. */
function replace(path: string, content: string): void {
  const { atime, mtime } = lstatSync(at(path))
  writeFileSync(at('.other'), content)
  utimesSync(at('.other'), atime, mtime)
  renameSync(at('.other'), at(path))
}

describe('names of a directory that did not change', () => {
  it('are seen as soon as they change, however little time lies between', async () => {
    mkdirSync(at('d'))
    for (let n = 0; n < 40; n += 1) {
      if (n % 8 === 0) await settle()
      expect(await taken()).toBe(await digestOfAll())
      writeFileSync(at(`d/${n}`), 'x')
      expect(await taken()).toBe(await digestOfAll())
      if (n % 3 === 0) rmSync(at(`d/${n}`))
      if (n % 3 === 1) renameSync(at(`d/${n}`), at(`d/-${n}`))
    }
  })

  it('are seen when the directory is given back its old times', async () => {
    mkdirSync(at('d'))
    writeFileSync(at('d/a'), 'x')
    utimesSync(at('d'), 1, 1)
    await settle()
    expect(await taken()).toBe(await digestOfAll())
    renameSync(at('d/a'), at('d/b'))
    utimesSync(at('d'), 1, 1)
    expect(await taken()).toBe(await digestOfAll())
  })

  it('are those of the directory that has the path, not of the one that had it', async () => {
    for (const name of ['d', 'e']) {
      mkdirSync(at(name))
      writeFileSync(at(`${name}/in-${name}`), name)
    }
    await settle()
    expect(await taken()).toBe(await digestOfAll())
    renameSync(at('d'), at('x'))
    renameSync(at('e'), at('d'))
    renameSync(at('x'), at('e'))
    expect(await taken()).toBe(await digestOfAll())
    rmSync(at('d'), { recursive: true })
    symlinkSync('e', at('d'))
    expect(await taken()).toBe(await digestOfAll())
    rmSync(at('d'))
    mkdirSync(at('d'))
    expect(await taken()).toBe(await digestOfAll())
  })

  it('are kept only of file systems that date directories', () => {
    expect(datedDevice('/proc')).toBeUndefined()
    expect(datedDevice(root)).toBe(lstatSync(root).dev)
  })
})

describe('files', () => {
  it('that are replaced by others of the same size and time are seen', async () => {
    mkdirSync(at('d'))
    writeFileSync(at('d/f'), 'old')
    utimesSync(at('d/f'), 1, 1)
    await settle()
    expect(await taken()).toBe(await digestOfAll())
    replace('d/f', 'new')
    expect(await taken()).toBe(await digestOfAll())
  })

  it('with several names are said not to be held as they were, each time', async () => {
    writeFileSync(at('one'), 'x')
    linkSync(at('one'), at('two'))
    const told = expect.stringContaining('hard-link "/two" (1)')
    await settle()
    for (let n = 0; n < 3; n += 1) {
      expect((await ws.snapshot.snapshot()).ref).toMatchObject({ lost: told })
    }
    ws = await subject.reopened()
    expect((await ws.snapshot.snapshot()).ref).toMatchObject({ lost: told })
    rmSync(at('one'))
    expect((await ws.snapshot.snapshot()).ref).not.toHaveProperty('lost')
  })
})

describe('a change time', () => {
  it('is settled once no later change can have it', () => {
    const changedMs = 1_700_000_000_123.25
    const ages = [-3_600_000, -1, 0, 24, 25, 26].map((age) => isSettled(changedMs, changedMs + age))
    expect(ages).toEqual([false, false, false, false, true, true])
  })

  it('that may be one of whole seconds takes seconds', () => {
    const changedMs = 1_700_000_000_000
    expect([25, 1000, 2000, 2025].map((age) => isSettled(changedMs, changedMs + age))).toEqual([
      false,
      false,
      false,
      true,
    ])
  })
})

const NAMES = ['a', 'a-b', 'a/x', 'a/y', 'a/d', 'a/d/z', 'b', 'b/x', 'b/ü', 'c']

/** Does one thing to a path; what cannot be done there now is left. */
function disturb(path: string, kind: number, content: string): void {
  const doings = [
    () => writeFileSync(at(path), content),
    () => mkdirSync(at(path)),
    () => rmSync(at(path), { recursive: true, force: true }),
    () => renameSync(at(path), at('c')),
    () => renameSync(at('c'), at(path)),
    () => replace(path, content),
    () => chmodSync(at(path), kind % 2 === 0 ? 0o700 : 0o755),
    () => symlinkSync('c', at(path)),
    () => utimesSync(at(path), 1, 1),
  ]
  try {
    doings[kind % doings.length]?.()
  } catch {
    rmSync(at('.other'), { force: true })
  }
}

it.each([1, 2, 3])('whatever happens in between, a snapshot has all of it (%i)', async (seed) => {
  let state = seed
  const below = (limit: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * limit)
  }
  for (let round = 0; round < 50; round += 1) {
    for (let n = below(6); n > 0; n -= 1) {
      disturb(NAMES[below(NAMES.length)] ?? 'c', below(180), String(below(9)))
    }
    if (below(4) === 0) await settle()
    expect(await taken()).toBe(await digestOfAll())
  }
})
