import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TestSampler } from '@helix-agents/core/testing'
import type { FileSystem } from '@helix-agents/core/provider'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

const SENTINEL = 'outside-sentinel'
const ROUNDS = new TestSampler().size(1500, 60)
/** On a busy machine few calls find the names where they belong: it goes on until one has, or so often. */
const MOST_ROUNDS = 100 * ROUNDS
let opened: OpenedFileSystem
let fs: FileSystem
let flipper: ChildProcess

/** Exchanges names as fast as the system can: a directory, a link that leads out, back again. */
const FLIPPER = `
const fs = require('node:fs')
const [root, outside] = process.argv.slice(1)
process.chdir(root)
fs.writeSync(1, 'ready')
const end = Date.now() + 30000
const quiet = (run) => { try { run() } catch {} }
while (Date.now() < end) {
  quiet(() => fs.renameSync('dir', 'dir.real'))
  quiet(() => fs.renameSync('dir.link', 'dir'))
  quiet(() => fs.renameSync('file', 'file.real'))
  quiet(() => fs.renameSync('file.link', 'file'))
  quiet(() => fs.renameSync('dir', 'dir.link'))
  quiet(() => fs.renameSync('dir.real', 'dir'))
  quiet(() => fs.renameSync('file', 'file.link'))
  quiet(() => fs.renameSync('file.real', 'file'))
}`

beforeEach(async () => {
  opened = openFileSystem()
  fs = opened.fs
  const { root, outside } = opened
  for (const directory of [join(root, 'dir'), join(outside, 'dir')]) mkdirSync(directory)
  writeFileSync(join(root, 'dir', 'file'), 'inside')
  writeFileSync(join(root, 'file'), 'inside')
  writeFileSync(join(outside, 'file'), SENTINEL)
  symlinkSync(outside, join(root, 'dir.link'))
  symlinkSync(join(outside, 'file'), join(root, 'file.link'))
  flipper = spawn(process.execPath, ['-e', FLIPPER, root, outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => flipper.stdout!.once('data', resolve))
})
afterEach(async () => {
  const ended = new Promise((resolve) => flipper.once('exit', resolve))
  flipper.kill('SIGKILL')
  await ended
  opened.dispose()
})

/** Nothing outside was changed, removed or added. */
function expectUntouched(): void {
  const { outside, base } = opened
  expect(readFileSync(join(outside, 'file'), 'utf8')).toBe(SENTINEL)
  expect(readdirSync(outside).toSorted()).toEqual(['dir', 'file'])
  expect(readdirSync(join(outside, 'dir'))).toEqual([])
  expect(readdirSync(base).toSorted()).toEqual(['outside', 'root', 'scratch'])
}

/** Runs calls against the flipper; counts how each ended. */
async function repeat(run: (round: number) => Promise<unknown>): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (let round = 0; round < ROUNDS || (!ends.has('done') && round < MOST_ROUNDS); round += 1) {
    const end = await run(round).then(
      () => 'done',
      (error: unknown) => String((error as { code?: string }).code),
    )
    ends.set(end, (ends.get(end) ?? 0) + 1)
    if (round % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return ends
}

const FINE = ['done', 'not-found', 'path-escape', 'is-directory', 'not-directory', 'already-exists']

describe('while somebody swaps directories and links', () => {
  it('reads never see the outside', async () => {
    const seen = new Set<string>()
    const ends = await repeat(async (round) => {
      const path = round % 2 === 0 ? '/dir/file' : '/file'
      seen.add(Buffer.from(await fs.readFile(path)).toString())
      seen.add(await fs.readText!(path))
    })
    expect([...seen].filter((content) => content !== 'inside')).toEqual([])
    expect([...ends.keys()].filter((end) => !FINE.includes(end))).toEqual([])
    expect(ends.get('done')).toBeGreaterThan(0)
    expectUntouched()
  })
  it('searches never see the outside', async () => {
    const lines = new Set<string>()
    await repeat(async () => {
      const { matches } = await fs.grep('inside|sentinel')
      for (const { line } of matches) lines.add(line)
      const listed = await fs.ls('/dir')
      for (const { size } of listed) lines.add(String(size))
    })
    expect([...lines].filter((line) => line.includes('sentinel') || line === '16')).toEqual([])
    expectUntouched()
  })
  it('writes never reach the outside', async () => {
    const ends = await repeat(async (round) => {
      const path = round % 2 === 0 ? '/dir/file' : '/file'
      if (round % 3 === 0) await fs.appendFile(path, 'inside')
      else await fs.writeFile(path, 'inside')
    })
    expect([...ends.keys()].filter((end) => !FINE.includes(end))).toEqual([])
    expectUntouched()
  })
  it('new files, directories, copies and moves never reach the outside', async () => {
    const ends = await repeat(async (round) => {
      await fs.writeFile(`/dir/new/${round % 7}`, 'x')
      await fs.mkdir(`/dir/sub-${round % 5}`, { recursive: true })
      await fs.copy('/file', '/dir/copy', { overwrite: true })
      await fs.move('/dir/copy', '/dir/moved', { overwrite: true })
      await fs.rm('/dir/new', { recursive: true })
    })
    expect(ends.size).toBeGreaterThan(0)
    expectUntouched()
  })
  it('removing a tree never removes the outside', async () => {
    const ends = await repeat(async (round) => {
      await fs.rm(round % 2 === 0 ? '/dir' : '/dir/dir', { recursive: true })
      await fs.writeFile('/dir/file', 'inside')
    })
    expect(ends.size).toBeGreaterThan(0)
    expectUntouched()
  })
})
