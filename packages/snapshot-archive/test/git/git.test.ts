import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SnapshotManifest } from '@helix-agents/core/provider'
import { afterEach, expect, test } from 'vitest'
import { exportGit, importGit } from '../../src/git/index.ts'
import { awkwardTree, identity, newSource, storeTree, type TreeEntry } from '../sample-tree.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'helix-archive-'))
  folders.push(folder)
  return folder
}

function git(repository: string, ...args: string[]): string {
  const who = ['-c', 'user.name=a', '-c', 'user.email=b@c', '-c', 'core.quotePath=false']
  return execFileSync('git', ['-C', repository, ...who, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** What Git holds of the awkward tree. */
const heldTree = awkwardTree.filter(({ path, mode = 0o644 }) => path !== 'empty' && mode !== 0o444)

async function storeHistory(): Promise<{
  readonly source: ReturnType<typeof newSource>
  readonly manifests: readonly SnapshotManifest[]
}> {
  const source = newSource()
  const at = identity.createdAt
  const second = heldTree.map((entry) =>
    entry.path === 'foo' ? { ...entry, text: 'new\n' } : entry,
  )
  const third = second.filter(({ path }) => path !== 'foo.txt')
  const manifests = [
    await storeTree(source, heldTree, { createdAt: at }),
    await storeTree(source, second, { createdAt: at + 60_000 }),
    await storeTree(source, third, { createdAt: at + 120_000 }),
  ]
  return { source, manifests }
}

test('git reads an export: fsck, log, diff, clone; each snapshot is a commit in order', async () => {
  const { source, manifests } = await storeHistory()
  const repository = join(newFolder(), 'out.git')
  const ids = manifests.map(({ header }) => header.snapshotId)
  const commits = await exportGit(source, ids, repository)

  expect(git(repository, 'fsck', '--strict', '--full', '--no-dangling')).toBe('')
  expect(git(repository, 'log', '--reverse', '--format=%H %at %s').trim().split('\n')).toEqual(
    commits.map(({ commit }, index) => {
      return `${commit} ${identity.createdAt / 1000 + index * 60} Snapshot of repo`
    }),
  )
  expect(git(repository, 'diff', '--name-status', 'HEAD~2', 'HEAD')).toBe('M\tfoo\nD\tfoo.txt\n')
  expect(git(repository, 'diff', 'HEAD~2', 'HEAD', '--', 'foo')).toContain('-c\n\\ No newline')
  expect(git(repository, 'rev-parse', `snapshots/${ids[1]}`).trim()).toBe(commits[1]?.commit)
  expect(commits.map(({ differenceCount }) => differenceCount)).toEqual([0, 0, 0])

  const clone = join(newFolder(), 'clone')
  execFileSync('git', ['clone', '--quiet', repository, clone])
  expect(git(clone, 'status', '--porcelain')).toBe('')
})

test('the same snapshots have the same commits', async () => {
  const { source, manifests } = await storeHistory()
  const ids = manifests.map(({ header }) => header.snapshotId)
  const folder = newFolder()
  const first = await exportGit(source, ids, join(folder, 'first.git'))
  expect(await exportGit(source, ids, join(folder, 'second.git'))).toEqual(first)
})

test('an exported commit is imported with the same digest', async () => {
  const { source, manifests } = await storeHistory()
  const repository = join(newFolder(), 'out.git')
  const ids = manifests.map(({ header }) => header.snapshotId)
  await exportGit(source, ids, repository)
  git(repository, 'repack', '-adq')
  for (const { header } of manifests) {
    const commit = `snapshots/${header.snapshotId}`
    const imported = await importGit({ repository, commit }, newSource(), { identity })
    expect(imported.manifest.header.digest).toBe(header.digest)
  }
})

const lost: readonly TreeEntry[] = [
  { path: '.git/config', text: '[core]\n' },
  { path: '.GIT/config', text: 'x' },
  { path: 'a/.git', text: 'gitdir: elsewhere' },
  { path: 'a/.g\u200cit/x', text: 'x' },
  { path: 'a/git~1', text: 'x' },
  { path: 'a/.git. /x', text: 'x' },
  { path: 'a/.git:x', text: 'x' },
  { path: 'a/b\\.git\\x', text: 'x' },
  { path: '.gitmodules', target: 'a' },
  { path: 'a/.gitmodules', text: '[submodule "x"]\n\turl = --upload-pack=x\n\tpath = ../x\n' },
  { path: 'a/gitmod~1', text: '[' },
  { path: '.gitattributes', text: `* ${'x'.repeat(3000)}\n` },
  { path: 'a/.gitattributes', text: '*.bin binary\n' },
  { path: 'a/.gitignore', text: '*\n' },
  { path: 'empty/deep' },
  { path: 'secret', text: 'x', mode: 0o600 },
  { path: 'setting', text: 'x', mode: 0o755 },
]

test('what git does not hold is named, and fsck finds nothing wrong', async () => {
  const source = newSource()
  const { header } = await storeTree(source, lost)
  const repository = join(newFolder(), 'out.git')
  const [commit] = await exportGit(source, [header.snapshotId], repository)
  expect(git(repository, 'fsck', '--strict', '--full')).toBe('')
  expect(git(repository, 'ls-tree', '-r', '--name-only', 'HEAD').trim().split('\n')).toEqual([
    'a/.gitattributes',
    'a/.gitignore',
    'secret',
    'setting',
  ])
  expect(commit?.differences.map(({ path, kind }) => `${kind} ${path}`).toSorted()).toEqual([
    'empty-directory /empty',
    'empty-directory /empty/deep',
    'mode /secret',
    'reserved-name /.GIT',
    'reserved-name /.git',
    'reserved-name /.gitattributes',
    'reserved-name /.gitmodules',
    'reserved-name /a/.git',
    'reserved-name /a/.git. ',
    'reserved-name /a/.git:x',
    'reserved-name /a/.gitmodules',
    'reserved-name /a/.g\u200cit',
    'reserved-name /a/b\\.git\\x',
    'reserved-name /a/gitmod~1',
    'reserved-name /a/git~1',
  ])
})

test('an empty snapshot and none at all are repositories too', async () => {
  const source = newSource()
  const { header } = await storeTree(source, [])
  const folder = newFolder()
  await exportGit(source, [header.snapshotId], join(folder, 'empty.git'))
  await exportGit(source, [], join(folder, 'none.git'))
  expect(git(join(folder, 'empty.git'), 'fsck', '--strict')).toBe('')
  expect(git(join(folder, 'none.git'), 'rev-parse', '--is-bare-repository')).toBe('true\n')
})

test('a directory with files is left alone, and a failure leaves nothing behind', async () => {
  const { source, manifests } = await storeHistory()
  const folder = newFolder()
  writeFileSync(join(folder, 'mine'), '')
  const ids = manifests.map(({ header }) => header.snapshotId)
  await expect(exportGit(source, ids, folder)).rejects.toMatchObject({ code: 'target-exists' })

  const file = manifests[0]?.entries.find(({ path }) => path === '/large')
  if (file?.type !== 'file') throw new Error('no such file')
  source.store.blocks.delete(file.blocks[1] ?? '')
  await expect(exportGit(source, ids, join(folder, 'out.git'))).rejects.toMatchObject({
    code: 'missing-blocks',
    message: expect.stringContaining('"/large"'),
  })
  expect(readdirSync(folder)).toEqual(['mine'])
})

test('a commit of a work tree is imported, without its attributes and programs', async () => {
  const repository = newFolder()
  git(repository, 'init', '--quiet', '--initial-branch=main')
  mkdirSync(join(repository, 'd'))
  writeFileSync(join(repository, 'd/a'), 'text $Format:%H$\n')
  writeFileSync(join(repository, 'hidden'), 'x')
  writeFileSync(join(repository, '.gitattributes'), 'hidden export-ignore\nd/a export-subst\n')
  git(repository, 'add', '-A')
  git(repository, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`)
  git(repository, 'commit', '--quiet', '-m', 'first')
  git(repository, 'config', 'core.fsmonitor', `touch ${join(repository, 'ran')}`)

  const source = newSource()
  const imported = await importGit({ repository }, source, { identity })
  expect(imported.submodules).toEqual(['module'])
  expect(imported.commit).toBe(git(repository, 'rev-parse', 'HEAD').trim())
  expect(imported.manifest.entries.map(({ path }) => path)).toEqual([
    '/.gitattributes',
    '/d',
    '/d/a',
    '/hidden',
  ])
  expect(imported.manifest.header.bytes).toBe(17 + 1 + 38)
  expect(existsSync(join(repository, 'ran'))).toBe(false)
})

test('hostile commits are rejected, and nothing is stored', async () => {
  const repository = newFolder()
  git(repository, 'init', '--quiet')
  const blob = (text: string): string =>
    execFileSync('git', ['-C', repository, 'hash-object', '-w', '--stdin'], { input: text })
      .toString()
      .trim()
  const commit = (line: string): string => {
    const tree = execFileSync('git', ['-C', repository, 'mktree', '--missing'], { input: line })
    return git(repository, 'commit-tree', '-m', 'x', tree.toString().trim()).trim()
  }
  const target = newSource()
  const limits = { maxEntries: 10, maxTotalBytes: 1000 }
  const rejected: readonly (readonly [string, string])[] = [
    ['link-escape', commit(`120000 blob ${blob('../../etc')}\tlink\n`)],
    ['invalid-archive', commit(`120000 blob ${blob('x'.repeat(5000))}\tlink\n`)],
    ['too-large', commit(`100644 blob ${blob('x'.repeat(2000))}\tfile\n`)],
    ['repository-failed', commit(`100644 blob ${'1'.repeat(40)}\tfile\n`)],
    ['repository-failed', 'no-such-commit'],
    ['repository-failed', '--output=/tmp/x'],
  ]
  for (const [code, name] of rejected) {
    await expect(
      importGit({ repository, commit: name }, target, { identity, limits }),
      `${code} ${name}`,
    ).rejects.toMatchObject({ name: 'SnapshotArchiveError', code })
  }
  await expect(
    importGit({ repository: join(repository, 'nowhere') }, target, { identity }),
  ).rejects.toMatchObject({ code: 'repository-failed' })
  expect(target.store.manifests.size).toBe(0)
})
