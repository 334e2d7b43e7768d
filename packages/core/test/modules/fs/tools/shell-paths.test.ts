// Commands print absolute paths of the machine; models pass them on to the file tools.
import { beforeEach, expect, test } from 'vitest'
import { ToolBench } from '../tool-bench.ts'

const ROOT = '/tmp/box/root'
let bench: ToolBench

beforeEach(async () => {
  bench = new ToolBench({ extended: true })
  bench.shellRoot = ROOT
  await bench.fs.writeFile('/src/a.ts', 'one\n')
})

test('a path as the shell prints it is the same file', async () => {
  const path = `${ROOT}/src/a.ts`
  expect(await bench.show('read_file', { path })).toContain('/src/a.ts: lines 1-1 of 1')
  await bench.call('edit_file', { path, oldText: 'one', newText: 'two' })
  await bench.call('append_file', { path, content: 'three\n' })
  expect(await bench.show('read_file', { path: 'src/a.ts' })).toContain('2→three')
  expect(await bench.show('ls', { path: ROOT })).toContain('src/')
  expect(await bench.show('ls', { path: `${ROOT}/` })).toContain('/: 1 entries')
  expect(await bench.show('glob', { pattern: '*.ts', path: `${ROOT}/src` })).toContain('/src/a.ts')
  const grep = { pattern: 'two', opts: { path: `${ROOT}/src` } }
  expect(await bench.show('grep', grep)).toContain('1→two')
  expect(await bench.show('stat', { path })).toContain('/src/a.ts: file')
})

test('nothing is made below a copy of the root', async () => {
  await bench.call('write_file', { path: `${ROOT}/b.ts`, content: 'b' })
  await bench.call('mkdir', { path: `${ROOT}/d` })
  await bench.call('copy', { from: `${ROOT}/b.ts`, to: `${ROOT}/d/c.ts` })
  await bench.call('move', { from: `${ROOT}/d/c.ts`, to: `${ROOT}/d/e.ts` })
  expect(await bench.show('glob', { pattern: '**' })).toBe('3 files\n/b.ts\n/d/e.ts\n/src/a.ts')
  await bench.call('rm', { path: `${ROOT}/b.ts` })
  expect(await bench.code('stat', { path: '/b.ts' })).toBe('not-found')
})

test('a directory of that name in the workspace comes first', async () => {
  bench.shellRoot = '/workspace'
  expect(await bench.show('ls', { path: '/workspace' })).toContain('src/')
  await bench.fs.writeFile('/workspace/src/a.ts', 'inner\n')
  expect(await bench.show('read_file', { path: '/workspace/src/a.ts' })).toContain('inner')
  expect(await bench.code('read_file', { path: '/workspaces/src/a.ts' })).toBe('not-found')
})

test('a relative path never means the root of the shell', async () => {
  expect(await bench.code('stat', { path: 'tmp/box/root/src/a.ts' })).toBe('not-found')
  expect(await bench.code('stat', { path: `${ROOT}/../../../../x` })).toBe('path-escape')
})
