import type { FileSystem, GrepOptions } from '@helix-agents/core/provider'
import { check, equal, rejectsWithCode } from '../assert.ts'
import { type FileSystemBehaviour, writeFiles } from './files.ts'

const TREE = {
  '/readme.md': '# readme\n',
  '/src/a.ts': 'const a = 1\n',
  '/src/b.test.ts': 'test(a)\n',
  '/src/lib/c.ts': 'export const c = a + 1\n',
  '/src/lib/d.js': 'let d\n',
  '/.env': 'A=1\n',
}

export const globBehaviours: readonly FileSystemBehaviour[] = [
  glob('a-star-stays-in-one-directory', 'src/*.ts', ['/src/a.ts', '/src/b.test.ts']),
  glob('two-stars-cross-directories', '**/*.ts', ['/src/a.ts', '/src/b.test.ts', '/src/lib/c.ts']),
  glob('a-question-mark-is-one-character', 'src/?.ts', ['/src/a.ts']),
  glob('braces-are-alternatives', 'src/lib/*.{ts,js}', ['/src/lib/c.ts', '/src/lib/d.js']),
  glob('a-class-is-one-of-its-characters', 'src/lib/[a-c].*', ['/src/lib/c.ts']),
  glob('a-named-class-is-its-members', 'src/lib/[[:lower:]].*', ['/src/lib/c.ts', '/src/lib/d.js']),
  glob('a-plain-path-is-itself', 'src/a.ts', ['/src/a.ts']),
  glob('a-leading-slash-is-the-search-directory', '/src/a.*', ['/src/a.ts']),
  glob('dot-files-need-no-care', '*', ['/.env', '/readme.md']),
  glob('directories-are-not-listed', '*/*', ['/src/a.ts', '/src/b.test.ts']),
  {
    id: 'fs/glob/is-relative-to-path',
    run: async (fs) => {
      await writeFiles(fs, TREE)
      equal(await fs.glob('*.ts', { path: '/src' }), ['/src/a.ts', '/src/b.test.ts'])
      equal(await fs.glob('lib/*.js', { path: 'src/' }), ['/src/lib/d.js'])
    },
  },
  {
    id: 'fs/glob/stops-at-the-limit',
    run: async (fs) => {
      await writeFiles(fs, TREE)
      equal((await fs.glob('**/*', { limit: 2 })).length, 2)
    },
  },
  {
    id: 'fs/glob/is-sorted-across-directories',
    run: async (fs) => {
      await writeFiles(fs, {
        '/a/z': '',
        '/a.b': '',
        '/a-b': '',
        '/b': '',
        '/a/\uFF5E': '',
        '/a/😀': '',
      })
      equal(await fs.glob('**'), ['/a-b', '/a.b', '/a/z', '/a/\uFF5E', '/a/😀', '/b'])
    },
  },
  {
    id: 'fs/glob/a-missing-path-is-not-found',
    run: (fs) => rejectsWithCode('not-found', () => fs.glob('*', { path: '/missing' })),
  },
  {
    id: 'fs/glob/leaves-stored-outputs-out',
    run: async (fs) => {
      await writeFiles(fs, { '/.helix/output/1.txt': 'x', '/a.txt': 'x' })
      equal(await fs.glob('**/*.txt'), ['/a.txt'])
      equal(await fs.glob('**/*.txt', { path: '/.helix' }), ['/.helix/output/1.txt'])
    },
  },
]

export const grepBehaviours: readonly FileSystemBehaviour[] = [
  grep('literal-text-is-not-a-pattern', 'a.c', { mode: 'literal' }, ['1 a.c'], 'a.c\nabc\n'),
  grep('a-regex-is-the-default', '^a\\dc$', {}, ['2 a1c'], 'a.c\na1c\nxa1c\n'),
  grep('ignores-case-on-demand', 'STRASSE', { ignoreCase: true }, ['1 Strasse'], 'Strasse\n'),
  grep('case-matters-otherwise', 'abc', {}, ['2 abc'], 'ABC\nabc\n'),
  grep('lines-count-from-1-without-their-end', 'x', {}, ['1 x', '3 x'], 'x\r\n\r\nx\r\n'),
  grep('the-last-line-needs-no-end', 'end', {}, ['2 the end'], 'start\nthe end'),
  grep('anchors-mean-the-line', '^b$', {}, ['2 b'], 'ab\r\nb\r\nba\n'),
  grep('several-hits-in-one-line-are-one', 'a', {}, ['1 aaa'], 'aaa\n'),
  {
    id: 'fs/grep/context-is-before-and-after',
    run: async (fs) => {
      await fs.writeFile('/a', '1\n2\n3\n4\n5\n')
      equal((await fs.grep('3', { context: 2 })).matches, [
        { path: '/a', lineNumber: 3, line: '3', before: ['1', '2'], after: ['4', '5'] },
      ])
      const [first] = (await fs.grep('1', { context: 2 })).matches
      equal([first?.before ?? [], first?.after], [[], ['2', '3']])
    },
  },
  {
    id: 'fs/grep/is-sorted-by-path-then-line',
    run: async (fs) => {
      await writeFiles(fs, { '/b': 'x\nx\n', '/a/z': 'x\n', '/a.b': 'x\n' })
      equal(
        (await fs.grep('x')).matches.map(({ path, lineNumber }) => `${path}:${lineNumber}`),
        ['/a.b:1', '/a/z:1', '/b:1', '/b:2'],
      )
    },
  },
  {
    id: 'fs/grep/stops-at-the-limit-and-says-so',
    run: async (fs) => {
      await writeFiles(fs, { '/a': 'x\n'.repeat(5), '/b': 'x\n' })
      const cut = await fs.grep('x', { maxResults: 3 })
      equal([cut.matches.length, cut.countIsComplete], [3, false])
      const whole = await fs.grep('x', { maxResults: 100 })
      equal([whole.matches.length, whole.countIsComplete], [6, true])
    },
  },
  {
    id: 'fs/grep/no-match-is-complete',
    run: async (fs) => {
      await writeFiles(fs, TREE)
      equal(await fs.grep('no such text'), {
        matches: [],
        skippedPaths: [],
        skippedBinaryPaths: [],
        countIsComplete: true,
      })
    },
  },
  {
    id: 'fs/grep/large-files-are-named-not-searched',
    run: async (fs) => {
      await writeFiles(fs, { '/large': 'x\n'.repeat(2000), '/small': 'x\n' })
      const result = await fs.grep('x', { maxGrepFileSizeMb: 0.001 })
      equal(
        result.matches.map((match) => match.path),
        ['/small'],
      )
      equal([result.skippedPaths, result.countIsComplete], [['/large'], false])
    },
  },
  {
    id: 'fs/grep/binary-files-are-named-not-searched',
    run: async (fs) => {
      await writeFiles(fs, { '/text': 'x\n' })
      await fs.writeFile('/binary', Uint8Array.of(0x78, 0x0a, 0, 0x78))
      const result = await fs.grep('x')
      equal(
        result.matches.map((match) => match.path),
        ['/text'],
      )
      equal([result.skippedBinaryPaths, result.countIsComplete], [['/binary'], false])
    },
  },
  {
    id: 'fs/grep/searches-below-path',
    run: async (fs) => {
      await writeFiles(fs, { '/d/a': 'x\n', '/d2/a': 'x\n', '/a': 'x\n' })
      equal(
        (await fs.grep('x', { path: 'd' })).matches.map((match) => match.path),
        ['/d/a'],
      )
      equal(
        (await fs.grep('x', { path: '/a' })).matches.map((match) => match.path),
        ['/a'],
      )
    },
  },
  {
    id: 'fs/grep/include-glob-chooses-files',
    run: async (fs) => {
      await writeFiles(fs, { '/a.ts': 'x\n', '/d/b.ts': 'x\n', '/d/c.js': 'x\n' })
      const found = async (options: GrepOptions): Promise<string[]> =>
        (await fs.grep('x', options)).matches.map((match) => match.path)
      equal(await found({ includeGlob: '*.ts' }), ['/a.ts', '/d/b.ts'])
      equal(await found({ includeGlob: 'd/*.{ts,js}' }), ['/d/b.ts', '/d/c.js'])
    },
  },
  {
    id: 'fs/grep/a-missing-path-is-not-found',
    run: (fs) => rejectsWithCode('not-found', () => fs.grep('x', { path: '/missing' })),
  },
  {
    id: 'fs/grep/a-broken-pattern-is-rejected',
    run: async (fs) => {
      await fs.writeFile('/a', 'x')
      await rejectsWithCode('invalid-pattern', () => fs.grep('(unclosed'))
    },
  },
  {
    id: 'fs/grep/a-hostile-pattern-ends',
    slow: true,
    run: async (fs) => {
      await fs.writeFile('/a', `${'a'.repeat(20_000)}!\n`)
      const startedAt = Date.now()
      equal((await fs.grep('(a+)+$')).matches, [])
      check(Date.now() - startedAt < 30_000, 'an answer within 30 s')
    },
  },
  {
    id: 'fs/grep/sees-every-change',
    run: async (fs) => {
      await fs.writeFile('/a', 'old\n')
      await fs.grep('old')
      await fs.writeFile('/a', new TextEncoder().encode('new ü\n'))
      equal((await fs.grep('old')).matches, [])
      equal((await fs.grep('ü', { mode: 'literal' })).matches.length, 1)
    },
  },
  {
    id: 'fs/grep/leaves-stored-outputs-out',
    run: async (fs) => {
      await writeFiles(fs, { '/.helix/output/1.txt': 'x\n', '/a.txt': 'x\n' })
      const paths = async (path: string): Promise<string[]> =>
        (await fs.grep('x', { path })).matches.map((match) => match.path)
      equal(await paths('/'), ['/a.txt'])
      equal(await paths('/.helix/output'), ['/.helix/output/1.txt'])
    },
  },
]

/** A glob over the tree above. */
function glob(name: string, pattern: string, expected: string[]): FileSystemBehaviour {
  const run = async (fs: FileSystem): Promise<void> => {
    await writeFiles(fs, TREE)
    equal(await fs.glob(pattern), expected)
  }
  return { id: `fs/glob/${name}`, run }
}

/** A search in one file, as `line number` and `line`. */
function grep(
  name: string,
  ...[pattern, options, expected, content]: readonly [string, GrepOptions, string[], string]
): FileSystemBehaviour {
  const run = async (fs: FileSystem): Promise<void> => {
    await fs.writeFile('/a.txt', content)
    const { matches } = await fs.grep(pattern, options)
    equal(
      matches.map(({ lineNumber, line }) => `${lineNumber} ${line}`),
      expected,
    )
  }
  return { id: `fs/grep/${name}`, run }
}
