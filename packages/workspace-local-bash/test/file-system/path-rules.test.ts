import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@helix-agents/core'
import { type FileSystem, fileSystemConfigSchema } from '@helix-agents/core/provider'
import {
  FileVersions,
  injectWorkspaceTools,
  noopMetrics,
  workspaceModules,
} from '@helix-agents/core/runtime'
import { TestSampler } from '@helix-agents/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFileSystem, type OpenedFileSystem } from '../open-file-system.ts'

const SECRET = 'the secret words'
const ROUNDS = new TestSampler().size(200, 60)
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
  }, 120_000)
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

const v4a = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch']
const git = (from: string, to: string, verb: string): string[] => [
  `diff --git a/${from} b/${to}`,
  'similarity index 100%',
  `${verb} from ${from}`,
  `${verb} to ${to}`,
]

describe('a patch that names a link', () => {
  const change = ['@@ -1 +1 @@', `-${SECRET}`, '+changed']
  it.each([
    ['changes what it leads to', ['--- a/file.link', '+++ b/file.link', ...change]],
    ['changes what lies behind it', ['--- a/dir.link/file', '+++ b/dir.link/file', ...change]],
    ['changes and moves it', v4a('*** Update File: file.link', '*** Move to: x', ...change)],
    ['makes what it leads to', v4a('*** Add File: new.link', '+x')],
    ['makes a file behind it', ['--- /dev/null', '+++ b/dir.link/x', '@@ -0,0 +1 @@', '+x']],
    ['copies what it leads to', git('file.link', 'x', 'copy')],
    ['copies onto what it leads to', git('file', 'new.link', 'copy')],
    ['moves a file behind it', git('file', 'dir.link/x', 'rename')],
  ])('is refused when it %s', async (_what, lines) => {
    symlinkSync('secret/new', join(opened.root, 'new.link'))
    const applied = callTool('apply_patch', { patch: `${lines.join('\n')}\n` })
    await expect(applied).rejects.toMatchObject({ code: 'path-denied' })
    expect([secret(), await opened.fs.ls('/secret')]).toMatchObject([SECRET, [{ name: 'file' }]])
    expect((await opened.fs.ls('/')).map(({ name }) => name)).not.toContain('x')
  })
})

/** As a runtime calls a tool of a workspace with the path rules. */
async function callTool(name: string, input: object): Promise<unknown> {
  const provider = { kind: 'local-bash' }
  const capabilities = {
    fs: fileSystemConfigSchema.parse({
      extended: true,
      pathRules: [{ pattern: '/secret', access: 'none' }],
    }),
  }
  const box = { name: 'box', provider, onLost: 'fail' as const, capabilities }
  const tools = injectWorkspaceTools({ box }, () => ({ fs: true }))
  const tool = tools.find((one) => one.name === `workspace__box__${name}`)
  const live = { id: 'box', isolation: 'none' as const, fs: opened.fs, close: async () => {} }
  return tool?.execute(tool.parse(input), {
    sessionId: 's',
    agentId: 'run',
    agentType: 'tester',
    toolCallId: 'call',
    abortSignal: new AbortController().signal,
    getState: () => undefined as never,
    updateState: () => undefined,
    emit: () => undefined,
    progress: () => undefined,
    workspaces: {
      clock: systemClock,
      metrics: noopMetrics,
      has: () => true,
      providerId: () => provider.kind,
      use: (_name, operation) => operation({ live, ledger: new FileVersions() }),
      switchTo: async () => undefined,
      takeNotice: () => undefined,
      audit: () => undefined,
    },
  })
}
