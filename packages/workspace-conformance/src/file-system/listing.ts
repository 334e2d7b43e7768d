import { equal, rejectsWithCode } from '../assert.ts'
import { type FileSystemBehaviour, names, writeFiles } from './files.ts'

/** More than any backing store returns in one page. */
const MANY = 1200

export const listingBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/list/the-root-may-be-empty',
    run: async (fs) => equal(await fs.ls('/'), []),
  },
  {
    id: 'fs/list/is-direct-and-sorted',
    run: async (fs) => {
      await writeFiles(fs, { '/d/b': 'x', '/d/a': 'x', '/d/sub/c': 'x' })
      equal(
        (await fs.ls('/d')).map((entry) => `${entry.type} ${entry.name}`),
        ['file a', 'file b', 'directory sub'],
      )
    },
  },
  {
    id: 'fs/list/is-in-code-point-order',
    run: async (fs) => {
      const wanted = ['10', '9', 'B', 'a', 'é', '\uFF5E', '😀']
      for (const name of wanted.toReversed()) await fs.writeFile(`/d/${name}`, 'x')
      equal(await names(fs, '/d'), wanted)
    },
  },
  {
    id: 'fs/list/entries-have-path-and-bytes',
    run: async (fs) => {
      await fs.writeFile('/d/a', 'ü')
      equal(await fs.ls('d/'), [{ name: 'a', path: '/d/a', type: 'file', size: 2 }])
    },
  },
  {
    id: 'fs/list/sees-every-change',
    run: async (fs) => {
      await writeFiles(fs, { '/d/a': 'x', '/d/b': 'x' })
      equal(await names(fs, '/d'), ['a', 'b'])
      await fs.rm('/d/a')
      await fs.writeFile('/d/c', 'x')
      await fs.move('/d/b', '/d/e')
      equal(await names(fs, '/d'), ['c', 'e'])
    },
  },
  {
    id: 'fs/list/returns-every-entry',
    slow: true,
    run: async (fs) => {
      const wanted = Array.from({ length: MANY }, (_, index) => String(index).padStart(4, '0'))
      await Promise.all(wanted.map((name) => fs.writeFile(`/many/${name}`, 'x')))
      equal(await names(fs, '/many'), wanted)
    },
  },
  {
    id: 'fs/list/missing-is-not-found',
    run: (fs) => rejectsWithCode('not-found', () => fs.ls('/missing')),
  },
  {
    id: 'fs/list/a-file-is-not-a-directory',
    run: async (fs) => {
      await fs.writeFile('/a', 'x')
      await rejectsWithCode('not-directory', () => fs.ls('/a'))
    },
  },
]

export const directoryBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/mkdir/makes-an-empty-directory',
    run: async (fs) => {
      await fs.mkdir('/d')
      equal((await fs.stat('/d')).type, 'directory')
      equal(await fs.ls('/d'), [])
    },
  },
  {
    id: 'fs/mkdir/recursive-makes-the-parents',
    run: async (fs) => {
      await fs.mkdir('/a/b/c', { recursive: true })
      equal((await fs.stat('/a/b/c')).type, 'directory')
    },
  },
  {
    id: 'fs/mkdir/recursive-keeps-an-existing-one',
    run: async (fs) => {
      await fs.writeFile('/d/a', 'x')
      await fs.mkdir('/d', { recursive: true })
      equal(await names(fs, '/d'), ['a'])
    },
  },
  {
    id: 'fs/mkdir/an-existing-one-is-rejected',
    run: async (fs) => {
      await fs.mkdir('/d')
      await rejectsWithCode('already-exists', () => fs.mkdir('/d'))
    },
  },
  {
    id: 'fs/mkdir/over-a-file-is-rejected',
    run: async (fs) => {
      await fs.writeFile('/a', 'x')
      await rejectsWithCode('already-exists', () => fs.mkdir('/a'))
      await rejectsWithCode(['already-exists', 'not-directory'], () =>
        fs.mkdir('/a', { recursive: true }),
      )
      equal((await fs.stat('/a')).type, 'file')
    },
  },
  {
    id: 'fs/mkdir/a-missing-parent-is-not-found',
    run: (fs) => rejectsWithCode('not-found', () => fs.mkdir('/a/b')),
  },
  {
    id: 'fs/mkdir/below-a-file-is-rejected',
    run: async (fs) => {
      await fs.writeFile('/a', 'x')
      await rejectsWithCode('not-directory', () => fs.mkdir('/a/b', { recursive: true }))
    },
  },
]
