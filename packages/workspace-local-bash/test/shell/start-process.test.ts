import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Launch } from '../../src/shell/launcher.ts'
import { type Pipe, PipePool } from '../../src/shell/output/pipe-pool.ts'
import { startProcess } from '../../src/shell/start-process.ts'
import { openFilesOf } from '../open-files.ts'

const scratch = mkdtempSync(join(tmpdir(), 'helix-start-'))
const pool = new PipePool()
const failToLaunch = () =>
  startProcess(pipes, () => {
    throw new Error('no directory')
  }, [ignore, ignore])

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let pipes: readonly [Pipe, Pipe]
let openBefore: number
const openNow = (): number => readdirSync('/proc/self/fd').length
beforeEach(async () => {
  const before = openNow()
  pipes = [await pool.take(scratch), await pool.take(scratch)]
  openBefore = before
})

const launch = (more: Partial<Launch>): Launch => ({
  file: '/bin/true',
  args: [],
  name: 'true',
  cwd: '/',
  env: {},
  isNamespaced: false,
  ...more,
})
const ignore = (): void => {}

/** Runs a script to its end. @returns how that was, and what it wrote */
async function run(script: string, more: Partial<Launch> = {}) {
  const said: [string, string] = ['', '']
  const sinks = [0, 1].map((at) => (piece: Uint8Array) => {
    said[at as 0 | 1] += Buffer.from(piece).toString()
  }) as unknown as Parameters<typeof startProcess>[2]
  const made = launch({ file: '/bin/sh', args: ['-c', script], name: 'tool', ...more })
  const { ended, readers } = startProcess(pipes, () => made, sinks)
  const end = await ended
  await Promise.all(readers.map((reader) => reader.ended))
  await expect.poll(() => openFilesOf(scratch), { interval: 1 }).toBe(0)
  return { end, said }
}

describe('what cannot be launched', () => {
  it('closes both pipes', () => {
    expect(failToLaunch).toThrow('no directory')
    expect(openNow()).toBe(openBefore)
  })
  it.each([
    ['ENOENT', 'tool', 127, 'tool: command not found\n'],
    ['EACCES', './tool', 126, './tool: Permission denied\n'],
  ] as const)('for %s says so as a shell does', async (obstacle, name, exitCode, complaint) => {
    const started = startProcess(pipes, () => launch({ obstacle, name }), [ignore, ignore])
    expect(await started.ended).toEqual({ exitCode, complaint })
    expect([started.pid, started.channel]).toEqual([undefined, undefined])
    expect(started.pipePaths).toEqual(pipes.map(({ path }) => path))
    await Promise.all(started.readers.map((reader) => reader.ended))
    await expect.poll(openNow).toBe(openBefore)
    expect(started.pipePaths.some((path) => existsSync(path))).toBe(false)
  })
  it.each([
    ['', []],
    ['a\0', []],
    ['a', ['b\0']],
  ])('as %j with %j is no command', (name, args) => {
    const start = () =>
      startProcess(pipes, () => launch({ obstacle: 'ENOENT', name, args }), [ignore, ignore])
    expect(start).toThrow('the command is empty or holds a NUL')
    expect(openNow()).toBe(openBefore)
  })
})

describe('a program', () => {
  it('ends with its code, and what it wrote', async () => {
    const { end, said } = await run('echo out; echo err >&2; exit 7')
    expect([end, said]).toEqual([{ exitCode: 7 }, ['out\n', 'err\n']])
  })
  it('that is ended by a signal has the code of it', async () => {
    expect((await run('kill -TERM $$')).end).toEqual({ exitCode: 143 })
  })
  it('has its directory, its variables, no input, and a session of its own', async () => {
    const script = 'pwd; echo $A; cat; [ $$ = "$(ps -o sid= -p $$ | tr -d " ")" ] && echo leads'
    const { said } = await run(script, { cwd: scratch, env: { A: '1', PATH: '/usr/bin:/bin' } })
    expect(said).toEqual([`${scratch}\n1\nleads\n`, ''])
  })
  it.each([
    ['/no/such', [], 127, 'tool: command not found\n'],
    [scratch, [], 126, 'tool: Permission denied\n'],
    ['/etc/passwd/x', [], 126, 'tool: Permission denied\n'],
    ['/bin/true', ['x'.repeat(200_000)], 126, 'tool: Argument list too long\n'],
  ])(
    '%s that cannot be started says so as a shell does',
    async (file, args, exitCode, complaint) => {
      const { end, said } = await run('', { file, args })
      expect([end, said]).toEqual([{ exitCode, complaint }, ['', '']])
    },
  )
  it.each([
    ['a\0', []],
    ['', []],
    ['/bin/true', ['b\0']],
  ])('%j with %j is no command', (file, args) => {
    const start = () => startProcess(pipes, () => launch({ file, args }), [ignore, ignore])
    expect(start).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        message: 'the command is empty or holds a NUL',
        cause: expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE' }) as Error,
      }),
    )
    expect(openNow()).toBe(openBefore)
  })
})

const inNamespace = (script: string, more: Partial<Launch> = {}) =>
  run(script, { isNamespaced: true, ...more })

describe('the first process of a namespace', () => {
  it('says that it has begun, and writes errors elsewhere', async () => {
    const { end, said } = await inNamespace('printf + >&2; exec 2>&-; echo o; echo e >&3; exit 5')
    expect([end, said]).toEqual([{ exitCode: 5 }, ['o\n', 'e\n']])
  })
  it.each([
    ['echo no space >&2; exit 1', 'no space\n'],
    ['exit 0', 'it ended'],
    ['printf %05000d 1 >&2', '0'.repeat(4096)],
  ])('that does not is a failure: %s', async (script, failure) => {
    expect((await inNamespace(script)).end).toEqual({ exitCode: 126, failure })
  })
  it('that says more was killed', async () => {
    const { end } = await inNamespace('printf + >&2; echo the child was killed >&2; exit 1')
    expect(end).toEqual({ exitCode: 137 })
  })
  it('that cannot be started says so', async () => {
    const { end } = await inNamespace('', { file: '/no/such' })
    expect(end).toEqual({ exitCode: 127, complaint: 'tool: command not found\n' })
  })
})

describe.each([false, true])('a channel (of a namespace: %s)', (isNamespaced) => {
  const script = 'printf + >&2; read -r x <&4; echo "$x" >&4'
  const made = () => launch({ file: '/bin/sh', args: ['-c', script], isNamespaced })

  it('is the fourth descriptor of a program', async () => {
    const { channel, ended } = startProcess(pipes, made, [ignore, ignore], true)
    channel?.write('word\n')
    const said = await new Promise((resolve) => channel?.once('data', resolve))
    expect([String(said), await ended]).toEqual(['word\n', { exitCode: 0 }])
    channel?.destroy()
  })
  it('is there for those only who ask', async () => {
    const { channel, ended } = startProcess(pipes, made, [ignore, ignore])
    expect(channel).toBeUndefined()
    expect((await ended).exitCode).not.toBe(0)
  })
})
