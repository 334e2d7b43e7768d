import type { FileSystem } from '@helix-agents/core/provider'
import { equal, rejectionOf, rejectsWithCode } from '../assert.ts'
import { unguessable } from '../unguessable.ts'
import { type FileSystemBehaviour, names, read, readOrCode, writeFiles } from './files.ts'

/** Runs a call that may be rejected or do nothing. */
async function attempt(run: () => Promise<unknown>): Promise<void> {
  await run().catch(() => undefined)
}

type Transfer = FileSystem['copy']

/** What `copy` and `move` have in common. */
const sharedClauses: readonly {
  readonly name: string
  readonly run: (fs: FileSystem, transfer: Transfer) => Promise<void>
}[] = [
  {
    name: 'a-missing-source-is-not-found',
    run: async (fs, transfer) => {
      await rejectsWithCode('not-found', () => transfer('/missing', '/b'))
      equal(await names(fs, '/'), [])
    },
  },
  {
    name: 'an-existing-target-is-rejected',
    run: async (fs, transfer) => {
      await writeFiles(fs, { '/a': 'a', '/b': 'b' })
      await rejectsWithCode('already-exists', () => transfer('/a', '/b'))
      equal([await read(fs, '/a'), await read(fs, '/b')], ['a', 'b'])
    },
  },
  {
    name: 'overwrite-replaces-a-file',
    run: async (fs, transfer) => {
      await writeFiles(fs, { '/a': 'a', '/b': 'a longer b' })
      const { version } = await fs.stat('/b')
      await transfer('/a', '/b', { overwrite: true })
      equal(await read(fs, '/b'), 'a')
      equal((await fs.stat('/b')).version === version, false)
    },
  },
  {
    name: 'over-a-directory-is-rejected',
    run: async (fs, transfer) => {
      await writeFiles(fs, { '/a': 'a', '/d/b': 'b' })
      await rejectsWithCode(['is-directory', 'already-exists'], () => transfer('/a', '/d'))
      await rejectsWithCode('is-directory', () => transfer('/a', '/d', { overwrite: true }))
      equal([await read(fs, '/a'), await read(fs, '/d/b')], ['a', 'b'])
    },
  },
  {
    name: 'onto-itself-loses-nothing',
    run: async (fs, transfer) => {
      await writeFiles(fs, { '/a': 'a', '/d/b': 'b' })
      await attempt(() => transfer('/a', '/a'))
      await attempt(() => transfer('/a', 'x/../a', { overwrite: true }))
      await attempt(() => transfer('/d', '/d', { overwrite: true }))
      equal([await readOrCode(fs, '/a'), await readOrCode(fs, '/d/b')], ['a', 'b'])
    },
  },
  {
    name: 'into-its-own-child-is-rejected',
    run: async (fs, transfer) => {
      await writeFiles(fs, { '/d/a': 'a' })
      await rejectsWithCode('invalid-path', () => transfer('/d', '/d/sub'))
      equal(await names(fs, '/'), ['d'])
      await rejectsWithCode('invalid-path', () => transfer('/', `/d/${unguessable()}`))
      equal([await names(fs, '/'), await names(fs, '/d')], [['d'], ['a']])
    },
  },
  {
    name: 'a-name-that-only-starts-alike-is-no-child',
    run: async (fs, transfer) => {
      await writeFiles(fs, { '/d/a': 'a' })
      await transfer('/d', '/d2')
      equal(await read(fs, '/d2/a'), 'a')
    },
  },
  {
    name: 'past-the-limits-of-paths-is-rejected',
    run: async (fs, transfer) => {
      const deep = `/d/${'d/'.repeat(150)}a`
      const long = `/l/${`${'l'.repeat(200)}/`.repeat(15)}a`
      await writeFiles(fs, { [deep]: 'x', [long]: 'x' })
      await fs.mkdir('/empty')
      for (const [from, to] of [
        ['/d', `/t/${'t/'.repeat(110)}d`],
        ['/l', `/t/${`${'t'.repeat(200)}/`.repeat(6)}l`],
      ] as const) {
        await rejectsWithCode('invalid-path', () => transfer(from, to))
      }
      equal(await names(fs, '/'), ['d', 'empty', 'l'])
      equal([await read(fs, deep), await read(fs, long)], ['x', 'x'])
      await transfer('/empty', `/t/${'t/'.repeat(110)}d`)
      await transfer('/d/d', `/t/${'t/'.repeat(100)}d`)
      equal(await fs.glob('t/**/a'), [`/t/${'t/'.repeat(100)}d/${'d/'.repeat(149)}a`])
    },
  },
  {
    name: 'below-a-file-is-rejected',
    run: async (fs, transfer) => {
      await writeFiles(fs, { '/a': 'a', '/b': 'b' })
      await rejectionOf(() => transfer('/a', '/b/c'))
      equal([await readOrCode(fs, '/a'), await readOrCode(fs, '/b')], ['a', 'b'])
    },
  },
]

function shared(method: 'copy' | 'move'): readonly FileSystemBehaviour[] {
  return sharedClauses.map(({ name, run }) => ({
    id: `fs/${method}/${name}`,
    run: (fs) => run(fs, fs[method].bind(fs)),
  }))
}

export const transferBehaviours: readonly FileSystemBehaviour[] = [
  ...shared('copy'),
  ...shared('move'),
  {
    id: 'fs/copy/the-copy-is-independent',
    run: async (fs) => {
      await fs.writeFile('/a', 'a')
      await fs.copy('/a', '/b')
      await fs.appendFile('/b', '+')
      await fs.writeFile('/a', 'changed')
      equal([await read(fs, '/a'), await read(fs, '/b')], ['changed', 'a+'])
      await fs.rm('/b')
      equal(await read(fs, '/a'), 'changed')
    },
  },
  {
    id: 'fs/copy/a-subtree',
    run: async (fs) => {
      await writeFiles(fs, { '/d/a': 'a', '/d/sub/b': 'b' })
      await fs.mkdir('/d/empty')
      await fs.copy('/d', '/e')
      await fs.writeFile('/e/sub/b', 'changed')
      equal(await names(fs, '/e'), ['a', 'empty', 'sub'])
      equal([await read(fs, '/d/sub/b'), await read(fs, '/e/sub/b')], ['b', 'changed'])
    },
  },
  {
    id: 'fs/copy/removing-the-copy-keeps-the-original',
    run: async (fs) => {
      await writeFiles(fs, { '/d/a': 'a' })
      await fs.copy('/d', '/e')
      await fs.rm('/e', { recursive: true })
      equal(await readOrCode(fs, '/d/a'), 'a')
    },
  },
  {
    id: 'fs/move/a-file',
    run: async (fs) => {
      await fs.writeFile('/a', 'a')
      await fs.mkdir('/d')
      await fs.move('/a', '/d/b')
      equal([await readOrCode(fs, '/a'), await read(fs, '/d/b')], ['not-found', 'a'])
    },
  },
  {
    id: 'fs/move/a-subtree',
    run: async (fs) => {
      await writeFiles(fs, { '/d/a': 'a', '/d/sub/b': 'b' })
      await fs.move('/d', '/e')
      equal(await names(fs, '/'), ['e'])
      equal([await read(fs, '/e/a'), await read(fs, '/e/sub/b')], ['a', 'b'])
      equal(await readOrCode(fs, '/d/sub/b'), 'not-found')
    },
  },
]
