import { Buffer } from 'node:buffer'
import { execFileSync } from 'node:child_process'
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createWriteStream, existsSync, lstatSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterEach, expect, test } from 'vitest'
import { exportTar, importTar } from '../../src/index.ts'
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

async function toFile(stream: ReadableStream<Uint8Array>, file: string): Promise<void> {
  await pipeline(Readable.fromWeb(stream), createWriteStream(file))
}

function fromFile(file: string): ReadableStream<Uint8Array> {
  return Readable.toWeb(createReadStream(file))
}

interface Description {
  readonly type: 'file' | 'directory' | 'link'
  readonly content?: string
  readonly mode?: number
}

function describeFile(file: string): Description {
  const stat = lstatSync(file)
  if (stat.isSymbolicLink()) return { type: 'link', content: readlinkSync(file) }
  const mode = stat.mode & 0o777
  if (stat.isDirectory()) return { type: 'directory', mode }
  return { type: 'file', content: readFileSync(file, 'base64'), mode }
}

function describeEntry({ text, target, mode }: TreeEntry): Description {
  if (target !== undefined) return { type: 'link', content: target }
  if (text === undefined) return { type: 'directory', mode: mode ?? 0o755 }
  return { type: 'file', content: Buffer.from(text).toString('base64'), mode: mode ?? 0o644 }
}

test('tar unpacks an export: names, contents, modes, links and empty directories', async () => {
  const source = newSource()
  const manifest = await storeTree(source, awkwardTree)
  const folder = newFolder()
  const file = join(folder, 'snapshot.tar')
  await toFile(await exportTar(source, manifest), file)
  const out = newFolder()
  execFileSync('tar', ['-xpf', file, '-C', out], { stdio: ['ignore', 'ignore', 'inherit'] })

  expect(awkwardTree.map(({ path }) => describeFile(join(out, path)))).toEqual(
    awkwardTree.map((entry) => describeEntry(entry)),
  )
  const listed = execFileSync('tar', ['-tf', file, '--quoting-style=literal', '--null'])
  expect(listed.toString()).toContain('日本語 😀.txt')
})

test.each([true, false])(
  'an export is imported with the same digest (modes: %s)',
  async (hasModes) => {
    const source = newSource()
    const manifest = await storeTree(source, awkwardTree, { hasModes })
    const target = newSource()
    const imported = await importTar(await exportTar(source, manifest), target, { identity })
    expect(imported.entries).toEqual(manifest.entries)
    expect(imported.header.digest).toBe(manifest.header.digest)
    expect([...target.store.blocks.keys()].toSorted()).toEqual(
      [...source.store.blocks.keys()].toSorted(),
    )
    expect(target.store.manifests.size).toBe(1)
  },
)

test.each(['gnu', 'pax', 'ustar'])('an archive of tar --format=%s is imported', async (format) => {
  const source = newSource()
  const short = awkwardTree.filter(({ path, target }) => path.length + (target ?? '').length < 250)
  const entries = format === 'ustar' ? short.filter(({ path }) => path !== 'nowhere') : awkwardTree
  const manifest = await storeTree(source, entries)
  const folder = newFolder()
  const first = join(folder, 'first.tar')
  await toFile(await exportTar(source, manifest), first)
  const out = newFolder()
  execFileSync('tar', ['-xpf', first, '-C', out])
  const again = join(folder, 'again.tar')
  execFileSync('tar', [`--format=${format}`, '-cf', again, '-C', out, '.'])

  const target = newSource()
  const imported = await importTar(fromFile(again), target, { identity })
  expect(imported.entries).toEqual(manifest.entries)
  expect(imported.header.digest).toBe(manifest.header.digest)
})

test('an archive of git is imported, its comment skipped', async () => {
  const repository = newFolder()
  const git = (...args: string[]): Buffer =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=b@c', ...args])
  git('init', '--quiet')
  execFileSync('sh', ['-c', 'mkdir d; echo a >d/a; ln -s d/a l'], { cwd: repository })
  git('add', '-A')
  git('commit', '--quiet', '-m', 'first')
  const archive = git('archive', 'HEAD')
  const imported = await importTar(ReadableStream.from([archive]), newSource(), { identity })
  expect(imported.entries.map(({ path, type }) => [path, type])).toEqual([
    ['/d', 'directory'],
    ['/d/a', 'file'],
    ['/l', 'symlink'],
  ])
})

test('a missing block fails before the first byte and names the file', async () => {
  const source = newSource()
  const manifest = await storeTree(source, awkwardTree)
  const lost = manifest.entries.find(({ path }) => path === '/bin/run')
  if (lost?.type !== 'file') throw new Error('no such file')
  source.store.blocks.delete(lost.blocks[0] ?? '')
  await expect(exportTar(source, manifest)).rejects.toMatchObject({
    code: 'missing-blocks',
    message: expect.stringContaining('"/bin/run"'),
  })
})

test('a slow reader holds the reading back', async () => {
  const source = newSource()
  const content = new Uint8Array(64 * 1024 * 1024)
  for (let at = 0; at < content.length; at += 1024 * 1024) content[at] = at / (1024 * 1024)
  const manifest = await storeTree(source, [{ path: 'large', text: content }])
  let read = 0
  const getBlocks = source.store.getBlocks.bind(source.store)
  source.store.getBlocks = async (scope, hashes) => {
    read += hashes.length
    return getBlocks(scope, hashes)
  }
  const stream = await exportTar(source, manifest)
  const reader = stream.getReader()
  await reader.read()
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(read).toBeLessThanOrEqual(24)
  await reader.cancel()
  expect(source.store.mostBytes).toBeLessThanOrEqual(8 * 1024 * 1024)
})

test('the first path of an export is that of the first entry', async () => {
  const source = newSource()
  const manifest = await storeTree(source, [{ path: 'a', text: 'a' }])
  const file = join(newFolder(), 'one.tar')
  await toFile(await exportTar(source, manifest), file)
  expect(existsSync(file)).toBe(true)
  expect(execFileSync('tar', ['-tvf', file, '--utc']).toString()).toMatch(
    /-rw-r--r-- 0\/0 +1 2026-11-21 06:30 a\n$/,
  )
})

test('other work runs while many entries are packed and imported', async () => {
  const source = newSource()
  const many = Array.from({ length: 4000 }, (_, i) => ({ path: `d${i}` }))
  const manifest = await storeTree(source, many)
  // Nothing here waits for a disk: without pauses the event loop has no turn at all.
  const packed: Uint8Array[] = []
  const exporting = await turnsOf(async () => {
    for await (const part of await exportTar(source, manifest)) packed.push(part)
  })
  const importing = await turnsOf(() =>
    importTar(ReadableStream.from(packed), newSource(), { identity }),
  )
  expect(exporting).toBeGreaterThan(2)
  expect(importing).toBeGreaterThan(2)
})

async function turnsOf(run: () => Promise<unknown>): Promise<number> {
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  await run()
  clearInterval(timer)
  return turns
}
