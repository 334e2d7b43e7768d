import { expect, test, vi } from 'vitest'
import type { FileStat, FileSystem } from '../../../../src/modules/fs/contract.ts'
import { FileSystemError } from '../../../../src/errors/file-system-error.ts'
import type { RunResult, Shell } from '../../../../src/modules/shell/contract.ts'
import type { RunOutput } from '../../../../src/modules/shell/tools/calls/run.ts'
import { StubAgent } from '../../../tools/stub-context.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const result = (part: Partial<RunResult> = {}): RunResult => ({
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  exitCode: 0,
  durationMs: 5,
  timedOut: false,
  ...part,
})

function createAgent(part: Partial<RunResult>, fs?: Partial<FileSystem>) {
  const run = vi.fn<Shell['run']>(async () => result(part))
  const modules = { shell: { run }, ...(fs && { fs: fs as FileSystem }) }
  return { run, agent: new StubAgent(modules, { shell: true }) }
}

const stat = (path: string, version: string): FileStat => ({
  path,
  version,
  type: 'file',
  size: 1,
  mtime: new Date(0),
})

const failToWrite = async (): Promise<FileStat> => {
  throw new FileSystemError('storage-full', '/')
}

test('command and options are passed on, with the signal of the call', async () => {
  const { run, agent } = createAgent({})
  const opts = { cwd: '/src', timeoutMs: 5, env: { A: 'b' } }
  await agent.call('run', { command: 'ls', opts })
  expect(run).toHaveBeenCalledWith(
    'ls',
    expect.objectContaining({ ...opts, signal: agent.abort.signal }),
  )
})

test.each([
  ['/tmp/box/src', '/src'],
  ['/tmp/box', '/'],
  ['src', '/src'],
  ['', '/'],
])('the working directory %j is %s of the workspace', async (cwd, expected) => {
  const { run, agent } = createAgent({})
  agent.access.live = { ...agent.access.live, shellRoot: '/tmp/box' }
  await agent.call('run', { command: 'ls', opts: { cwd } })
  expect(run).toHaveBeenCalledWith('ls', expect.objectContaining({ cwd: expected }))
})

test.each([
  [{ timeoutMs: 0 }],
  [{ timeoutMs: 1.5 }],
  [{ env: { 'A=B': 'x' } }],
  [{ env: { A: 5 } }],
  [{ background: true }],
  [{ signal: 'x' }],
])('options %j are refused', async (opts) => {
  const { run, agent } = createAgent({})
  await expect(agent.call('run', { command: 'ls', opts })).rejects.toMatchObject({
    code: 'invalid-input',
  })
  expect(run).not.toHaveBeenCalled()
})

test('the result is structured for programs, and keeps escape sequences', async () => {
  const stdout = bytes('\u001B[31mred\u001B[0m\n')
  const { agent } = createAgent({ stdout, stderr: bytes('warn\n'), exitCode: 1, durationMs: 1500 })
  expect(await agent.call('run', { command: 'grep x f' })).toEqual({
    exitCode: 1,
    meaning: 'no line matched',
    stdout: '\u001B[31mred\u001B[0m\n',
    stderr: 'warn\n',
    durationMs: 1500,
    timedOut: false,
    staleReads: [],
  })
  expect(await agent.ask('run', { command: 'grep x f' })).toBe(
    'red\n[stderr]\nwarn\n[exit code 1: no line matched; 1.5 s]',
  )
})

test('no output, and output without a last line end, are told apart from the status', async () => {
  expect(await createAgent({}).agent.ask('run', { command: 'true' })).toBe(
    '[exit code 0; no output]',
  )
  expect(await createAgent({ stdout: bytes('a') }).agent.ask('run', { command: 'x' })).toBe(
    'a\n[exit code 0]',
  )
})

test('bytes that are not text never break the result', async () => {
  const { agent } = createAgent({ stdout: Uint8Array.of(0xff, 0, 0x61) })
  expect(await agent.ask('run', { command: 'x' })).toBe('\uFFFD\u2400a\n[exit code 0]')
})

test('a long output keeps head and tail, and the whole is stored in the workspace', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}`).join('\n')
  const files = new Map<string, Uint8Array | string>()
  const writeFile = async (path: string, data: Uint8Array | string): Promise<FileStat> => {
    files.set(path, data)
    return stat(path, 'v1')
  }
  const { agent } = createAgent({ stdout: bytes(lines) }, { writeFile })
  const output = await agent.call<RunOutput>('run', { command: 'x' })
  expect(output.stdout.length).toBeLessThan(30_200)
  expect(output.stdout.startsWith('line 0\n')).toBe(true)
  expect(output.stdout.endsWith('line 19999')).toBe(true)
  const path = output.stdoutCut!.path!
  expect(path).toMatch(/^\/\.helix\/output\/[\w-]+\.txt$/)
  expect(output.stdoutCut).toEqual({ totalBytes: bytes(lines).length, path })
  expect([...files]).toEqual([[path, bytes(lines)]])
  const model = await agent.ask('run', { command: 'x' })
  expect(model).toMatch(/bytes left out; whole output: \/\.helix\/output\//)
})

test('both outputs share one budget', async () => {
  const long = bytes('x'.repeat(100_000))
  const { agent } = createAgent({ stdout: long, stderr: long })
  const output = await agent.call<RunOutput>('run', { command: 'x' })
  expect(output.stdout.length).toBeLessThan(20_200)
  expect(output.stderr.length).toBeLessThan(10_200)
  expect(output.stdoutCut).toEqual({ totalBytes: 100_000 })
  expect(output.stdout).toContain('not kept')
})

test('what the provider has cut and stored is named, not stored again', async () => {
  const writeFile = vi.fn<FileSystem['writeFile']>()
  // The cut goes through the middle of a character on both sides.
  const stdout = new Uint8Array([
    ...bytes('head 日').subarray(0, 6),
    ...bytes('日 tail').subarray(1),
  ])
  const cut = { totalBytes: 5_000_000, headBytes: 6, path: '/.helix/output/p.txt' }
  const { agent } = createAgent({ stdout, stdoutCut: cut }, { writeFile })
  const output = await agent.call<RunOutput>('run', { command: 'x' })
  expect(output.stdout).toBe(
    'head \n[… 4999990 of 5000000 bytes left out; whole output: /.helix/output/p.txt …]\n tail',
  )
  expect(output.stdoutCut).toEqual({ totalBytes: 5_000_000, path: '/.helix/output/p.txt' })
  expect(writeFile).not.toHaveBeenCalled()
})

test('a full workspace does not lose the result', async () => {
  const { agent } = createAgent({ stdout: bytes('x'.repeat(50_000)) }, { writeFile: failToWrite })
  expect(await agent.call('run', { command: 'x' })).toMatchObject({
    stdoutCut: { totalBytes: 50_000 },
  })
})

test('files that the command changed under the agent are named once', async () => {
  const versions: Record<string, string | undefined> = { '/a': '1', '/b': '1', '/c': '1' }
  const stats = vi.fn<FileSystem['stat']>(async (path) => {
    const version = versions[path]
    if (version === undefined) throw new FileSystemError('not-found', path)
    return stat(path, version)
  })
  const { agent } = createAgent({}, { stat: stats })
  const actor = 'tester (s1)'
  for (const path of ['/a', '/b', '/c']) agent.access.ledger.recordRead(actor, path, '1')
  agent.access.ledger.recordRead('another', '/d', '1')
  expect(await agent.ask('run', { command: 'x' })).not.toContain('changed')
  versions['/a'] = '2'
  versions['/b'] = undefined
  const told = await agent.ask('run', { command: 'x' })
  expect(told).toContain('[changed since you read them: /b (removed), /a]')
  expect(await agent.ask('run', { command: 'x' })).not.toContain('changed')
  versions['/a'] = '3'
  expect(await agent.ask('run', { command: 'x' })).toContain('[changed since you read them: /a]')
  expect(stats).not.toHaveBeenCalledWith('/d')
})

test('at most fifty files are looked at', async () => {
  const stats = vi.fn<FileSystem['stat']>(async (path) => stat(path, '1'))
  const { agent } = createAgent({}, { stat: stats })
  for (let i = 0; i < 80; i++) agent.access.ledger.recordRead('tester (s1)', `/${i}`, '1')
  await agent.call('run', { command: 'x' })
  expect(stats).toHaveBeenCalledTimes(50)
  expect(stats).toHaveBeenCalledWith('/79')
})
