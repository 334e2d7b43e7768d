import { check, equal, equalBytes, patternBytes, rejectsWithCode } from '../assert.ts'
import { type FileSystemBehaviour, read, readOrCode } from './files.ts'

/** Over the largest value of an SQLite row in a Durable Object (2 MB). */
const LARGE = 3 * 1024 * 1024 + 7

export const writingBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/write/creates-the-parents',
    run: async (fs) => {
      await fs.writeFile('/a/b/c.txt', 'x')
      equal((await fs.stat('/a/b')).type, 'directory')
      equal(await read(fs, '/a/b/c.txt'), 'x')
    },
  },
  {
    id: 'fs/write/replaces-the-whole-content',
    run: async (fs) => {
      await fs.writeFile('/a', 'a long content')
      await fs.writeFile('/a', 'short')
      equal(await read(fs, '/a'), 'short')
    },
  },
  {
    id: 'fs/write/returns-the-stat-of-the-file',
    run: async (fs) => {
      const written = await fs.writeFile('d/a', 'ü')
      const { path, type, size, version } = await fs.stat('/d/a')
      equal({ path, type, size, version }, { path: '/d/a', type: 'file', size: 2, version })
      const returned = { path: written.path, type: written.type, size: written.size }
      equal({ ...returned, version: written.version }, { path, type, size, version })
    },
  },
  {
    id: 'fs/write/keeps-its-own-copy',
    run: async (fs) => {
      const data = Uint8Array.of(1, 2, 3)
      await fs.writeFile('/a', data)
      data[0] = 9
      equalBytes(await fs.readFile('/a'), Uint8Array.of(1, 2, 3))
    },
  },
  {
    id: 'fs/write/a-part-of-a-buffer-is-only-that-part',
    run: async (fs) => {
      await fs.writeFile('/a', patternBytes(100).subarray(10, 20))
      equalBytes(await fs.readFile('/a'), patternBytes(100).subarray(10, 20))
    },
  },
  {
    id: 'fs/write/every-write-has-a-new-version',
    run: async (fs) => {
      const versions = new Set<string>()
      for (let round = 100; round < 130; round++) {
        versions.add((await fs.writeFile('/a', `same length ${round}`)).version)
      }
      equal(versions.size, 30)
    },
  },
  {
    id: 'fs/write/replacement-patterns-are-text',
    run: async (fs) => {
      const content = "$& $$ $` $' $1 $<n> %s \\n \u0000"
      await fs.writeFile('/a', content)
      equal(await read(fs, '/a'), content)
    },
  },
  {
    id: 'fs/write/more-than-two-megabytes',
    slow: true,
    run: async (fs) => {
      await fs.writeFile('/large', patternBytes(LARGE))
      equal((await fs.stat('/large')).size, LARGE)
      equalBytes(await fs.readFile('/large'), patternBytes(LARGE))
    },
  },
  {
    id: 'fs/write/if-version-writes-an-unchanged-file',
    run: async (fs) => {
      const { version } = await fs.writeFile('/a', 'one')
      await fs.writeFile('/a', 'two', { ifVersion: version })
      equal(await read(fs, '/a'), 'two')
    },
  },
  {
    id: 'fs/write/if-version-rejects-a-changed-file',
    run: async (fs) => {
      const { version } = await fs.writeFile('/a', 'one')
      await fs.writeFile('/a', 'two')
      await rejectsWithCode('stale-write', () => fs.writeFile('/a', 'mine', { ifVersion: version }))
      equal(await read(fs, '/a'), 'two')
    },
  },
  {
    id: 'fs/write/if-version-rejects-a-removed-file',
    run: async (fs) => {
      const { version } = await fs.writeFile('/a', 'one')
      await fs.rm('/a')
      await rejectsWithCode(['stale-write', 'not-found'], () =>
        fs.writeFile('/a', 'mine', { ifVersion: version }),
      )
      equal(await readOrCode(fs, '/a'), 'not-found')
    },
  },
  {
    id: 'fs/write/if-version-lets-one-of-ten-win',
    run: async (fs) => {
      const { version } = await fs.writeFile('/a', 'start')
      const all = Array.from({ length: 10 }, (_, index) =>
        fs.writeFile('/a', `writer ${index}`, { ifVersion: version }).then(
          () => `writer ${index}`,
          () => undefined,
        ),
      )
      const winners = (await Promise.all(all)).filter((name) => name !== undefined)
      equal(winners, [await read(fs, '/a')])
    },
  },
  {
    id: 'fs/write/if-absent-creates',
    run: async (fs) => {
      await fs.writeFile('/d/a', 'x', { ifAbsent: true })
      equal(await read(fs, '/d/a'), 'x')
    },
  },
  {
    id: 'fs/write/if-absent-rejects-an-existing-file',
    run: async (fs) => {
      await fs.writeFile('/a', 'old')
      await rejectsWithCode('already-exists', () => fs.writeFile('/a', 'new', { ifAbsent: true }))
      equal(await read(fs, '/a'), 'old')
    },
  },
  {
    id: 'fs/write/if-absent-lets-one-of-ten-win',
    run: async (fs) => {
      const all = Array.from({ length: 10 }, (_, index) =>
        fs.writeFile('/lock', `writer ${index}`, { ifAbsent: true }).then(
          () => `writer ${index}`,
          () => undefined,
        ),
      )
      const winners = (await Promise.all(all)).filter((name) => name !== undefined)
      equal(winners, [await read(fs, '/lock')])
    },
  },
  {
    id: 'fs/write/over-a-directory-is-rejected',
    run: async (fs) => {
      await fs.writeFile('/d/a', 'x')
      await rejectsWithCode('is-directory', () => fs.writeFile('/d', 'y'))
      equal(await read(fs, '/d/a'), 'x')
    },
  },
  {
    id: 'fs/write/over-the-root-is-rejected',
    run: async (fs) => {
      await rejectsWithCode('is-directory', () => fs.writeFile('/', 'y'))
      equal((await fs.stat('/')).type, 'directory')
    },
  },
  {
    id: 'fs/write/below-a-file-is-rejected',
    run: async (fs) => {
      await fs.writeFile('/a', 'x')
      await rejectsWithCode('not-directory', () => fs.writeFile('/a/b/c', 'y'))
      equal(await read(fs, '/a'), 'x')
    },
  },
]

const pieces = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `<${String(index).padStart(3, '0')}>`)

/** Appends at once; every piece must be there exactly once and whole. */
const appendsAtOnce = (count: number): FileSystemBehaviour['run'] => {
  return async (fs) => {
    await fs.writeFile('/log', 'start')
    await Promise.all(pieces(count).map((piece) => fs.appendFile('/log', piece)))
    const content = await read(fs, '/log')
    check(content.startsWith('start'), 'the old content first')
    equal(content.slice(5).match(/<\d+>/g)?.toSorted() ?? [], pieces(count))
    equal(content.length, 5 + 5 * count)
  }
}

export const appendBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/append/creates-the-file-and-its-parents',
    run: async (fs) => {
      await fs.appendFile('/d/log', 'x')
      equal(await read(fs, '/d/log'), 'x')
    },
  },
  {
    id: 'fs/append/adds-to-the-end',
    run: async (fs) => {
      await fs.writeFile('/log', 'one\n')
      const stat = await fs.appendFile('/log', 'twö\n')
      equal(await read(fs, '/log'), 'one\ntwö\n')
      equal(stat.size, 9)
    },
  },
  {
    id: 'fs/append/joins-a-character-cut-in-two',
    run: async (fs) => {
      const bytes = new TextEncoder().encode('水')
      await fs.writeFile('/log', bytes.subarray(0, 1))
      await fs.appendFile('/log', bytes.subarray(1))
      await fs.appendFile('/log', Uint8Array.of(0, 255))
      equalBytes(await fs.readFile('/log'), Uint8Array.of(...bytes, 0, 255))
    },
  },
  {
    id: 'fs/append/has-a-new-version',
    run: async (fs) => {
      const { version } = await fs.writeFile('/log', 'x')
      const appended = await fs.appendFile('/log', 'y')
      check(appended.version !== version, 'another version')
      equal((await fs.stat('/log')).version, appended.version)
    },
  },
  {
    id: 'fs/append/to-a-directory-is-rejected',
    run: async (fs) => {
      await fs.mkdir('/d')
      await rejectsWithCode('is-directory', () => fs.appendFile('/d', 'x'))
    },
  },
  { id: 'fs/append/ten-at-once-lose-nothing', run: appendsAtOnce(10) },
  { id: 'fs/append/fifty-at-once-lose-nothing', run: appendsAtOnce(50) },
]
