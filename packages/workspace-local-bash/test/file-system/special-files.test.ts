import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { FileSystem } from '@helix-agents/core/provider'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

let opened: OpenedFileSystem
let fs: FileSystem
beforeEach(() => {
  opened = openFileSystem()
  fs = opened.fs
})
afterEach(() => opened.dispose())

const refused = { code: 'permission-denied' }

describe('a named pipe', () => {
  beforeEach(() => void execFileSync('mkfifo', [join(opened.root, 'pipe')]))

  it.each(['readFile', 'readText', 'readStream'] as const)('does not block %s', async (call) => {
    await expect(fs[call]!('/pipe')).rejects.toMatchObject(refused)
  })
  it('is not written, appended to or copied', async () => {
    await expect(fs.writeFile('/pipe', 'x')).rejects.toMatchObject(refused)
    await expect(fs.appendFile('/pipe', 'x')).rejects.toMatchObject(refused)
    await expect(fs.copy('/pipe', '/copy')).rejects.toMatchObject(refused)
    await expect(
      fs.copy('/', '/copy').catch((error: unknown) => Promise.reject(error)),
    ).rejects.toMatchObject({ code: 'invalid-path' })
    expect(statSync(join(opened.root, 'pipe')).isFIFO()).toBe(true)
  })
  it('is passed over by searches, listed and removable', async () => {
    symlinkSync('pipe', join(opened.root, 'link'))
    expect(await fs.glob('**')).toEqual([])
    expect((await fs.grep('x')).countIsComplete).toBe(true)
    expect((await fs.ls('/')).map((entry) => entry.name)).toEqual(['link', 'pipe'])
    await fs.rm('/pipe')
    expect((await fs.ls('/')).map((entry) => entry.name)).toEqual(['link'])
  })
})

it('a socket is refused', async () => {
  const server = createServer().listen(join(opened.root, 'socket'))
  await new Promise((resolve) => server.once('listening', resolve))
  await expect(fs.readFile('/socket')).rejects.toMatchObject(refused)
  server.close()
})

it('a device behind a link is out of reach', async () => {
  symlinkSync('/dev/zero', join(opened.root, 'zero'))
  await expect(fs.readFile('/zero')).rejects.toMatchObject({ code: 'path-escape' })
})

it('a pipe outside is not even opened on the way to its refusal', async () => {
  const { outside, root } = opened
  const pipe = join(outside, 'pipe')
  execFileSync('mkfifo', [pipe])
  symlinkSync(outside, join(root, 'link'))
  // It waits for a reader. One that came and went would break its pipe.
  const writer = spawn('sh', ['-c', 'echo ready; echo words > "$0"', pipe], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => writer.once('exit', resolve))
  await new Promise((resolve) => writer.stdout.once('data', resolve))
  for (let round = 0; round < 200; round += 1) {
    await expect(fs.readFile('/link/pipe')).rejects.toMatchObject({ code: 'path-escape' })
    await expect(fs.appendFile('/link/pipe', 'x')).rejects.toMatchObject({ code: 'path-escape' })
  }
  expect(readFileSync(pipe, 'utf8')).toBe('words\n')
  expect(await ended).toBe(0)
})

it('permissions survive an overwrite', async () => {
  writeFileSync(join(opened.root, 'script'), '#!/bin/sh\n')
  chmodSync(join(opened.root, 'script'), 0o755)
  await fs.writeFile('/script', '#!/bin/sh\necho new\n')
  expect(statSync(join(opened.root, 'script')).mode & 0o777).toBe(0o755)
})

it('nothing unfinished is left in sight or beside', async () => {
  await fs.writeFile('/a', 'x')
  mkdirSync(join(opened.root, 'd'))
  await fs.writeFile('/d', 'x').catch(() => undefined)
  await fs.writeFile('/a', 'y', { ifVersion: 'no' }).catch(() => undefined)
  await fs.copy('/a', '/d').catch(() => undefined)
  expect((await fs.ls('/')).map((entry) => entry.name)).toEqual(['a', 'd'])
  expect(execFileSync('ls', [join(opened.base, 'scratch')]).toString()).toBe('')
})

it('paths as long as allowed work, though the host path is longer', async () => {
  const path = `/${Array.from({ length: 15 }, () => 'd'.repeat(250)).join('/')}/${'f'.repeat(250)}`
  await fs.writeFile(path, 'deep')
  expect(Buffer.from(await fs.readFile(path)).toString()).toBe('deep')
  expect((await fs.stat(path)).size).toBe(4)
  expect((await fs.ls(path.slice(0, -251))).map(({ size }) => size)).toEqual([4])
  expect(await fs.glob('**')).toEqual([path])
  expect((await fs.grep('deep')).matches.length).toBe(1)
  await fs.appendFile(path, '!')
  await fs.rm('/', { recursive: true })
  expect(await fs.ls('/')).toEqual([])
})

it('names keep their bytes', async () => {
  const names = ['\u00e9', 'e\u0301', ' ', '\\', '\u202e', '-rf', '*', '\n', '😀']
  for (const name of names) await fs.writeFile(`/${name}`, name)
  for (const name of names) {
    expect(readFileSync(join(opened.root, name), 'utf8')).toBe(name)
    expect(Buffer.from(await fs.readFile(`/${name}`)).toString()).toBe(name)
  }
})
