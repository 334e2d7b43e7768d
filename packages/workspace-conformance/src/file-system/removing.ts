import { equal, rejectsWithCode } from '../assert.ts'
import { assertRootInside } from './acts-inside.ts'
import { type FileSystemBehaviour, names, readOrCode, writeFiles } from './files.ts'

/** Names that are patterns, wildcards or quotes to some backend. */
const ODD_NAMES = [
  '100%',
  'a_b',
  'a\\b',
  "it's",
  '"q"',
  'a*',
  'b?',
  '[c]',
  '{d}',
  ' e ',
  '-f',
  'g\nh',
]

export const removingBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/rm/removes-a-file',
    run: async (fs) => {
      await writeFiles(fs, { '/a': 'x', '/b': 'x' })
      await fs.rm('/a')
      equal(await readOrCode(fs, '/a'), 'not-found')
      equal(await names(fs, '/'), ['b'])
    },
  },
  {
    id: 'fs/rm/removes-an-empty-directory',
    run: async (fs) => {
      await fs.mkdir('/d')
      await fs.rm('/d')
      equal(await names(fs, '/'), [])
    },
  },
  {
    id: 'fs/rm/a-full-directory-is-rejected',
    run: async (fs) => {
      await fs.writeFile('/d/a', 'x')
      await rejectsWithCode('not-empty', () => fs.rm('/d'))
      equal(await names(fs, '/d'), ['a'])
    },
  },
  {
    id: 'fs/rm/recursive-removes-the-subtree',
    run: async (fs) => {
      await writeFiles(fs, { '/d/a': 'x', '/d/sub/b': 'x', '/e': 'x' })
      await fs.rm('/d', { recursive: true })
      equal(await names(fs, '/'), ['e'])
      equal(await readOrCode(fs, '/d/sub/b'), 'not-found')
    },
  },
  {
    id: 'fs/rm/missing-is-not-found',
    run: async (fs) => {
      await rejectsWithCode('not-found', () => fs.rm('/missing'))
      await rejectsWithCode('not-found', () => fs.rm('/missing', { recursive: true }))
    },
  },
  {
    id: 'fs/rm/the-root-is-emptied-and-stays',
    run: async (fs) => {
      await assertRootInside(fs)
      await writeFiles(fs, { '/a': 'x', '/d/b': 'x' })
      equal(await names(fs, '/'), ['a', 'd'])
      await fs.rm('/', { recursive: true })
      equal(await fs.ls('/'), [])
      await fs.writeFile('/a', 'again')
      equal(await names(fs, '/'), ['a'])
    },
  },
  {
    id: 'fs/rm/leaves-names-that-only-start-alike',
    run: async (fs) => {
      await writeFiles(fs, {
        '/a/x': '',
        '/a0': '',
        '/a b/x': '',
        '/A': '',
        '/a_': '',
        '/ab/x': '',
      })
      await fs.rm('/a', { recursive: true })
      equal(await names(fs, '/'), ['A', 'a b', 'a0', 'a_', 'ab'])
    },
  },
  {
    id: 'fs/rm/odd-names-mean-themselves',
    run: async (fs) => {
      for (const name of ODD_NAMES) await writeFiles(fs, { [`/${name}/x`]: name, '/other': 'x' })
      equal((await names(fs, '/')).length, ODD_NAMES.length + 1)
      for (const name of ODD_NAMES) {
        equal(await readOrCode(fs, `/${name}/x`), name)
        await fs.rm(`/${name}`, { recursive: true })
      }
      equal(await names(fs, '/'), ['other'])
    },
  },
]
