import type { FileSystem } from '@helix-agents/core/provider'
import { equal, rejectsWithCode } from '../assert.ts'
import { unguessable } from '../unguessable.ts'
import { type FileSystemBehaviour, names, read, streamOf, writeFiles } from './files.ts'

/** Every call that takes a path, with that path. */
export const PATH_CALLS: readonly ((fs: FileSystem, path: string) => Promise<unknown>)[] = [
  (fs, path) => fs.readFile(path),
  (fs, path) => fs.writeFile(path, 'x'),
  (fs, path) => fs.appendFile(path, 'x'),
  (fs, path) => fs.ls(path),
  (fs, path) => fs.stat(path),
  (fs, path) => fs.mkdir(path, { recursive: true }),
  (fs, path) => fs.rm(path, { recursive: true }),
  (fs, path) => fs.copy(path, '/target'),
  (fs, path) => fs.copy('/source', path),
  (fs, path) => fs.move(path, '/target'),
  (fs, path) => fs.move('/source', path),
  (fs, path) => fs.readStream(path),
  (fs, path) => fs.writeStream(path, streamOf('x')),
  (fs, path) => fs.glob('*', { path }),
  (fs, path) => fs.grep('x', { path }),
]

/**
 * Each call rejects each path with a code, and nothing is touched.
 * @param pathsTo Paths of something with an unguessable name: a call that follows them finds nothing.
 */
function rejects(
  code: string,
  pathsTo: (name: string) => readonly string[],
): FileSystemBehaviour['run'] {
  return async (fs) => {
    await writeFiles(fs, { '/source': 'x', '/d/a': 'x' })
    for (const path of pathsTo(unguessable())) {
      for (const call of PATH_CALLS) await rejectsWithCode(code, () => call(fs, path))
    }
    equal([await names(fs, '/'), await names(fs, '/d')], [['d', 'source'], ['a']])
  }
}

export const pathBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/path/relative-is-absolute',
    run: async (fs) => {
      await fs.writeFile('a/b', 'x')
      equal([await read(fs, '/a/b'), await read(fs, 'a/b')], ['x', 'x'])
    },
  },
  {
    id: 'fs/path/dots-and-slashes-are-normalised',
    run: async (fs) => {
      await fs.writeFile('/a/./b//../c', 'x')
      equal([await names(fs, '/'), await names(fs, '/a/')], [['a'], ['c']])
      equal(await read(fs, './a/../a/c'), 'x')
    },
  },
  {
    id: 'fs/path/escape-is-rejected',
    run: rejects('path-escape', (name) => [
      `/../${name}`,
      `../${name}`,
      `/../../${name}/a`,
      `d/../../${name}`,
      `/d/../../${name}/d/..`,
    ]),
  },
  {
    id: 'fs/path/nul-is-rejected',
    run: rejects('invalid-path', (name) => [`/${name}\u0000b`, `/\u0000/${name}`]),
  },
  {
    id: 'fs/path/a-name-over-255-bytes-is-rejected',
    run: rejects('invalid-path', (name) => [
      `/${name}${'n'.repeat(256)}`,
      `/${name}${'水'.repeat(86)}`,
    ]),
  },
  {
    id: 'fs/path/over-4096-bytes-is-rejected',
    run: rejects('invalid-path', (name) => [`/${name}/${'deep/'.repeat(900)}x`]),
  },
  {
    id: 'fs/path/over-256-names-is-rejected',
    run: rejects('invalid-path', (name) => [
      `/${name}/${'d/'.repeat(255)}x`,
      `${name}/${'d/./'.repeat(255)}x/`,
    ]),
  },
  {
    id: 'fs/path/256-names-are-fine',
    run: async (fs) => {
      const directory = `/${'d/'.repeat(254)}d`
      await fs.writeFile(`${directory}/a`, 'x\n')
      equal(await read(fs, `${directory}/a`), 'x\n')
      equal(await names(fs, directory), ['a'])
      equal(await fs.glob('**/a'), [`${directory}/a`])
      equal((await fs.grep('x')).matches.length, 1)
      await fs.move('/d', '/e')
      equal(await fs.glob('**'), [`/e${directory.slice(2)}/a`])
      await fs.rm('/e', { recursive: true })
      equal(await fs.ls('/'), [])
    },
  },
  {
    id: 'fs/path/a-name-of-255-bytes-is-fine',
    run: async (fs) => {
      const longest = ['n'.repeat(255), '水'.repeat(85)]
      for (const name of longest) await fs.writeFile(`/${name}`, name)
      equal(await names(fs, '/'), longest)
      equal(await read(fs, `/${'水'.repeat(85)}`), '水'.repeat(85))
    },
  },
  {
    id: 'fs/path/a-deep-tree-is-fine',
    run: async (fs) => {
      const path = `/${'d/'.repeat(100)}a`
      await fs.writeFile(path, 'x')
      equal(await read(fs, path), 'x')
      equal(await fs.glob('**/a'), [path])
      await fs.rm('/d', { recursive: true })
      equal(await fs.ls('/'), [])
    },
  },
  {
    id: 'fs/path/case-and-normal-form-matter',
    run: async (fs) => {
      const wanted = ['A', 'a', 'e\u0301', '\u00e9']
      for (const name of wanted) await fs.writeFile(`/${name}`, name)
      equal(await names(fs, '/'), wanted)
      for (const name of wanted) equal(await read(fs, `/${name}`), name)
    },
  },
  {
    id: 'fs/path/unicode-everywhere',
    run: async (fs) => {
      await fs.writeFile('/日本語/文件 😀.txt', 'zeile mit größe\n')
      equal(await names(fs, '/日本語'), ['文件 😀.txt'])
      equal(await fs.glob('日*/**/*.txt'), ['/日本語/文件 😀.txt'])
      const { matches } = await fs.grep('grö', { includeGlob: '文*' })
      equal(
        matches.map(({ path, line }) => [path, line]),
        [['/日本語/文件 😀.txt', 'zeile mit größe']],
      )
    },
  },
]
