// What an agent knows of files that it moves, copies and patches; and how much of them there may be.
import { expect, test } from 'vitest'
import { ToolBench } from '../tool-bench.ts'

const MB = 1 / 1_048_576

async function benchWith(files: Readonly<Record<string, string>>, config = {}) {
  const bench = new ToolBench({ extended: true, ...config })
  for (const [path, text] of Object.entries(files)) await bench.fs.writeFile(path, text)
  return bench
}

test('what was read of a file is known where it was moved to, and not where it was', async () => {
  const bench = await benchWith({ '/a': 'x', '/d/b': 'y' }, { requireReadBeforeWrite: true })
  for (const path of ['/a', '/d/b']) await bench.call('read_file', { path })
  await bench.call('move', { from: '/a', to: '/c' })
  await bench.call('move', { from: '/d', to: '/e' })
  expect(await bench.code('write_file', { path: '/c', content: 'z' })).toBe('ok')
  await bench.fs.writeFile('/a', 'new')
  expect(await bench.code('write_file', { path: '/a', content: 'z' })).toBe('stale-write')
  expect(bench.ledger.knows('main', '/e/b')).toBe(true)
})

test('a move to its own name changes nothing', async () => {
  const bench = await benchWith({ '/a': 'x' })
  bench.fs.move = async () => {}
  await bench.call('read_file', { path: '/a' })
  expect(await bench.call('move', { from: '/a', to: 'a' })).toEqual({ from: '/a', to: '/a' })
  expect(bench.ledger.knows('main', '/a')).toBe(true)
})

test('a copy is known whole, a copied directory is not', async () => {
  const bench = await benchWith({ '/a': 'x', '/d/b': 'y' }, { requireReadBeforeWrite: true })
  await bench.call('copy', { from: '/a', to: '/c' })
  await bench.call('copy', { from: '/d', to: '/e' })
  expect(await bench.code('write_file', { path: '/c', content: 'z' })).toBe('ok')
  expect(await bench.code('write_file', { path: '/e/b', content: 'z' })).toBe('stale-write')
})

test('a target must be read where that is required, and is not looked at when it is a directory', async () => {
  const bench = await benchWith(
    { '/a': 'x', '/b': 'y', '/d/f': '' },
    { requireReadBeforeWrite: true },
  )
  const opts = { overwrite: true }
  expect(await bench.code('copy', { from: '/a', to: '/b', opts })).toBe('stale-write')
  await bench.call('read_file', { path: '/b' })
  expect(await bench.code('copy', { from: '/a', to: '/b', opts })).toBe('ok')
  expect(await bench.code('copy', { from: '/a', to: '/d' })).toBe('ok')
})

const removal = (...names: readonly string[]) =>
  `*** Begin Patch\n${names.map((name) => `*** Delete File: ${name}\n`).join('')}*** End Patch\n`

const hunk = (name: string) => `--- a${name}\n+++ b${name}\n@@\n-${'x'.repeat(100)}\n+y\n`

test('the files of a patch may have four times the limit of one together', async () => {
  const files = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`/f${n}`, 'x'.repeat(100)]))
  const patch = (count: number) => ({ patch: removal(...Object.keys(files).slice(0, count)) })
  const bench = await benchWith(files, { maxFileSizeMb: 100 * MB })
  await expect(bench.call('apply_patch', patch(5))).rejects.toMatchObject({
    code: 'patch-failed',
    message:
      'the files of the patch are too large together: "/f4" does not fit; nothing was changed',
    hint: 'Send it in several calls, some files at a time.',
  })
  expect(await bench.code('apply_patch', patch(4))).toBe('ok')
  const changed = await benchWith(files, { maxFileSizeMb: 100 * MB })
  const change = Object.keys(files).map(hunk).join('')
  expect(await changed.code('apply_patch', { patch: change })).toBe('patch-failed')
  const large = await benchWith({ '/big': 'x'.repeat(101) }, { maxFileSizeMb: 100 * MB })
  expect(await large.code('apply_patch', { patch: removal('big') })).toBe('too-large')
})

test('a file that changes between the plan and the write is not touched', async () => {
  const changes = [
    { patch: removal('f') },
    { patch: 'diff --git a/f b/g\nrename from f\nrename to g\n' },
  ]
  for (const input of changes) {
    const bench = await benchWith({ '/f': 'x' })
    const stat = bench.fs.stat.bind(bench.fs)
    let looks = 0
    bench.fs.stat = async (path) => {
      const found = await stat(path)
      if (path !== '/f') return found
      looks += 1
      return looks === 1 ? found : { ...found, version: 'later' }
    }
    expect(await bench.code('apply_patch', input)).toBe('stale-write')
    expect(bench.fs.all()).toEqual({ '/f': 'x' })
  }
})

test('more matches are told exactly when some are not shown', async () => {
  for (let count = 60; count <= 80; count += 1) {
    const bench = await benchWith({ '/f': `foo ${'x'.repeat(500)}\n`.repeat(count) })
    const shown = await bench.show('grep', { pattern: 'foo' })
    const matches = shown.match(/→foo/g)?.length
    expect(shown.includes(`[more matches: opts.offset: ${(matches ?? 0) + 1},`)).toBe(
      matches !== count,
    )
  }
})
