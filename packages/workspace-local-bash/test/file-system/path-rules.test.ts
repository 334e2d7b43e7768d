import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileSystem, fileSystemConfigSchema } from '@helix-agents/core/provider'
import { workspaceModules } from '@helix-agents/core/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

const SECRET = 'the secret words'
const ROUNDS = 200
let opened: OpenedFileSystem
let fs: FileSystem

/** Exchanges a directory and a file for links into the secret directory, and back. */
const FLIPPER = `
const fs = require('node:fs')
process.chdir(process.argv[1])
fs.writeSync(1, 'ready')
const end = Date.now() + 30000
const quiet = (run) => { try { run() } catch {} }
while (Date.now() < end) {
  for (const name of ['dir', 'file']) {
    quiet(() => fs.renameSync(name, name + '.real'))
    quiet(() => fs.renameSync(name + '.link', name))
    quiet(() => fs.renameSync(name, name + '.link'))
    quiet(() => fs.renameSync(name + '.real', name))
  }
}`

beforeEach(() => {
  opened = openFileSystem()
  const { root } = opened
  const config = fileSystemConfigSchema.parse({
    pathRules: [{ pattern: '/secret/**', access: 'none' }],
  })
  const context = { workspace: 'box', audit: () => {} }
  fs = workspaceModules.fs.guard(opened.fs, config, context)
  for (const name of ['secret', 'dir']) mkdirSync(join(root, name))
  writeFileSync(join(root, 'secret', 'file'), SECRET)
  writeFileSync(join(root, 'dir', 'file'), 'public')
  writeFileSync(join(root, 'file'), 'public')
  symlinkSync('secret', join(root, 'dir.link'))
  symlinkSync('secret/file', join(root, 'file.link'))
})
afterEach(() => opened.dispose())

const secret = (): string => readFileSync(join(opened.root, 'secret', 'file'), 'utf8')

describe('while somebody swaps what is allowed for links to what is not', () => {
  it('neither reads nor writes reach it', async () => {
    const flipper = spawn(process.execPath, ['-e', FLIPPER, opened.root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => flipper.once('exit', resolve))
    await new Promise((resolve) => flipper.stdout.once('data', resolve))
    const seen = new Set<string>()
    const quiet = async (run: () => Promise<unknown>): Promise<void> => {
      await run().catch((error: unknown) => seen.add(String((error as { code?: string }).code)))
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const path = round % 2 === 0 ? '/dir/file' : '/file'
      await quiet(async () => seen.add(Buffer.from(await fs.readFile(path)).toString()))
      await quiet(async () => (await fs.grep('words')).matches.map(({ line }) => seen.add(line)))
      await quiet(() => fs.appendFile(path, ''))
      await quiet(() => fs.writeFile(path, 'public'))
      await quiet(() => fs.writeFile(`/dir/new-${round % 7}`, 'public'))
      if (round % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    flipper.kill('SIGKILL')
    await ended
    expect(seen).toContain('public')
    expect([...seen].filter((text) => text.includes('secret'))).toEqual([])
    expect([secret(), await opened.fs.ls('/secret')]).toMatchObject([SECRET, [{ name: 'file' }]])
  }, 60_000)
})

it('a refusal names what the call spells, and records what it reaches', async () => {
  const audited: unknown[] = []
  const config = fileSystemConfigSchema.parse({
    pathRules: [{ pattern: '/secret/**', access: 'none' }],
  })
  const audit = (entry: { fields?: unknown }) => audited.push(entry.fields)
  const guarded = workspaceModules.fs.guard(opened.fs, config, { workspace: 'box', audit })
  await expect(guarded.readFile('/dir.link/file')).rejects.toMatchObject({
    message: '"/dir.link/file" leads to a path that may not be used in this workspace',
  })
  expect(audited).toMatchObject([{ path: '/dir.link/file', reached: '/secret/file' }])
})
