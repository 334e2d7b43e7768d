import { FileSystemError } from '@helix-agents/core'
import { checkSubtreeFits, checkTransferFits } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import type { FileEntry, FileStat } from '../../../../src/modules/fs/contract.ts'

const DEEP = '/d'.repeat(254)

describe('checkSubtreeFits', () => {
  test.each([
    [{ depth: 2, bytes: 4 }, 'fits'],
    [
      { depth: 3, bytes: 6 },
      'the path is not valid (a path below it would have 257 names, and at most 256 are allowed)',
    ],
    [{ depth: 2, bytes: 4096 - 508 }, 'fits'],
    [
      { depth: 2, bytes: 4097 - 508 },
      'the path is not valid (a path below it would be longer than 4096 bytes)',
    ],
  ])('%o below 254 names of 508 bytes: %s', (extent, outcome) => {
    expect(outcomeOf(() => checkSubtreeFits(DEEP, extent))).toContain(outcome)
  })

  test('counts bytes, not characters, and the root as no name', () => {
    expect(outcomeOf(() => checkSubtreeFits('/é', { depth: 1, bytes: 4093 }))).toBe('fits')
    expect(outcomeOf(() => checkSubtreeFits('/é', { depth: 1, bytes: 4094 }))).toMatch(
      /^invalid-path .*4096/u,
    )
    expect(outcomeOf(() => checkSubtreeFits('/', { depth: 256, bytes: 2 }))).toBe('fits')
  })
})

describe('checkTransferFits', () => {
  const tree = listed(['/s/', '/s/one/', '/s/one/two/', '/s/one/two/f', '/s/ünlong', '/file'])

  test('measures the deepest and the longest path below the source', async () => {
    // Below it: 3 names, and at most 10 bytes.
    expect(await transfer('/s', '/d'.repeat(253))).toBe('fits')
    expect(await transfer('/s', '/d'.repeat(254))).toContain('257 names')
    expect(await transfer('/s', longPath(4096 - 10))).toBe('fits')
    expect(await transfer('/s', longPath(4097 - 10))).toContain('longer than 4096 bytes')
  })

  test('looks at nothing where the target is no deeper and no longer', async () => {
    const asked = tree.asked.length
    expect(await transfer('/s/one', '/x/y')).toBe('fits')
    expect(await transfer('/s/one', '/long')).toBe('fits')
    expect(tree.asked).toHaveLength(asked)
    expect(await transfer('/s/one', '/lönger')).toBe('fits')
    expect(tree.asked.length).toBeGreaterThan(asked)
  })

  test('leaves files and what is missing to the provider', async () => {
    expect(await transfer('/file', '/d'.repeat(300))).toBe('fits')
    expect(await transfer('/gone', '/d'.repeat(300))).toBe('fits')
  })

  test('passes other failures on', async () => {
    const broken = { ...tree.fs, stat: () => Promise.reject(new Error('no disk')) }
    await expect(checkTransferFits(broken, '/s', '/s/deeper')).rejects.toThrow('no disk')
  })

  async function transfer(source: string, target: string): Promise<string> {
    try {
      await checkTransferFits(tree.fs, source, target)
      return 'fits'
    } catch (error) {
      return String(error)
    }
  }
})

function outcomeOf(check: () => void): string {
  try {
    check()
    return 'fits'
  } catch (error) {
    return FileSystemError.isInstance(error) ? `${error.code} ${error.message}` : 'another error'
  }
}

/** An absolute path of so many bytes, in names of at most 250. */
function longPath(bytes: number): string {
  const name = `/${'n'.repeat(249)}`
  const rest = bytes % name.length
  return (
    name.repeat(Math.floor(bytes / name.length)) + (rest === 0 ? '' : `/${'n'.repeat(rest - 1)}`)
  )
}

/** A tree of empty files; a final slash marks a directory. */
function listed(paths: readonly string[]): {
  readonly asked: string[]
  readonly fs: Parameters<typeof checkTransferFits>[0]
} {
  const asked: string[] = []
  const entries = paths.map((path): FileEntry & FileStat => {
    const isDirectory = path.endsWith('/')
    const plain = isDirectory ? path.slice(0, -1) : path
    const name = plain.slice(plain.lastIndexOf('/') + 1)
    const type = isDirectory ? 'directory' : 'file'
    return { path: plain, name, type, size: 0, version: '1', mtime: new Date(0) }
  })
  const fs = {
    stat: (path: string) => {
      asked.push(path)
      const found = entries.find((entry) => entry.path === path)
      if (found === undefined) return Promise.reject(new FileSystemError('not-found', path))
      return Promise.resolve(found)
    },
    ls: (path: string) => {
      asked.push(path)
      const start = `${path}/`
      const inside = (entry: FileEntry): boolean =>
        entry.path.startsWith(start) && !entry.path.slice(start.length).includes('/')
      return Promise.resolve(entries.filter((entry) => inside(entry)))
    },
  }
  return { asked, fs }
}
