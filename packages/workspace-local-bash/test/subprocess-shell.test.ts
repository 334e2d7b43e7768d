// What the shell of a workspace gives to its parts, without a namespace.
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CommandGate } from '../src/shell/command-gate.ts'
import type { Launcher } from '../src/shell/launcher.ts'
import type { PipePool } from '../src/shell/output/pipe-pool.ts'
import { MARKER_VARIABLE, placesOf } from '../src/shell/processes/process-table.ts'
import { openFilesOf } from './open-files.ts'
import { text } from './open-workspace.ts'
import { NAME, PATH, pool, useShellHost } from './shell/open-shell.ts'

const host = useShellHost()
const MARKED = new RegExp(`^${NAME}:[0-9a-f]{18}$`)
const ignore = (): void => {}

describe('a command', () => {
  it('gets its variables, its directory, and a mark of its own', async () => {
    mkdirSync(host().at('root/d'))
    const shell = host().open({ maxOutputBytes: 100 })
    const env = { B: 'call', [MARKER_VARIABLE]: 'forged' }
    const { stdout, exitCode } = await shell.run('echo $A $B', { cwd: 'd/../d/', env })
    expect([text(stdout), exitCode]).toEqual(['shell call\n', 0])
    await shell.run(['true'])
    expect(host().requests.map(({ command, path }) => [command, path])).toEqual([
      ['echo $A $B', '/d'],
      [['true'], '/'],
    ])
    const [one, two] = host().requests.map((request) => request.env)
    const mark = expect.stringMatching(MARKED) as string
    expect(one).toEqual({ PATH, A: 'shell', B: 'call', [MARKER_VARIABLE]: mark })
    expect(one?.[MARKER_VARIABLE]).not.toBe(two?.[MARKER_VARIABLE])
  })
  it('that cannot be launched leaves its directory closed', async () => {
    const launcher: Launcher = {
      ...host().launcher,
      launch: () => {
        throw new Error('no launcher')
      },
    }
    const shell = host().open({ launcher })
    await expect(shell.run('true')).rejects.toThrow('no launcher')
    expect(openFilesOf(host().at('root'))).toBe(0)
  })
  it('has no directory outside of the workspace', async () => {
    symlinkSync('/', host().at('root/out'))
    await expect(host().open().run('true', { cwd: '/out' })).rejects.toMatchObject({
      code: 'path-escape',
    })
  })
  it('finds the directories of the workspace again', async () => {
    const shell = host().open()
    for (const run of [
      () => shell.run('true'),
      () => shell.start('true'),
      async () => (await shell.startChannelProcess(['true'], [ignore, ignore])).channel.destroy(),
    ]) {
      rmSync(host().at('root'), { recursive: true })
      const before = host().restored
      await run()
      expect(host().restored).toBeGreaterThan(before)
    }
  })
  it('returns as much as it says, or the workspace, and the rest is stored', async () => {
    const shell = host().open()
    const print = 'printf 0123456789; sleep 0; printf ab; printf x >&2'
    const { stdout, stdoutCut, stderr, stderrCut } = await shell.run(print)
    expect([text(stdout), text(stderr), stderrCut]).toEqual(['03456789ab', 'x', undefined])
    const path = expect.stringMatching(/^\/\.helix\/output\/[0-9a-f]{18}\.stdout$/) as string
    expect(stdoutCut).toEqual({ totalBytes: 12, headBytes: 1, path })
    expect(text((await shell.run(print, { maxOutputBytes: 12 })).stdout)).toBe('0123456789ab')
    const long = await shell.run('printf %0101d 1 >&2; sleep 0; printf x')
    expect(long.stderrCut).toEqual({ totalBytes: 101, headBytes: 1 })
    expect(readdirSync(host().at('root/.helix/output'))).toHaveLength(1)
    expect(readdirSync(host().at('scratch'))).toEqual(['pipes'])
  })
  it('of which an output cannot be stored has no path, and the log says why', async () => {
    writeFileSync(host().at('root/.helix'), '')
    const { stdoutCut } = await host().open().run('printf 0123456789ab')
    expect(stdoutCut).toEqual({ totalBytes: 12, headBytes: 1 })
    const message = 'output of a command could not be stored'
    expect(host().logger.lines).toEqual([
      { level: 'warn', message, fields: expect.any(Object) as object },
    ])
    expect(host().logger.lines[0]?.fields).toMatchObject({ err: { code: 'not-directory' } })
    expect(host().logger.lines[0]?.fields.path).toMatch(/^\/\.helix\/output\/[0-9a-f]{18}\.stdout$/)
  })
  it('has its callbacks, and the errors of these', async () => {
    const heard: string[] = []
    const { callbackErrors } = await host()
      .open()
      .run('echo out; echo err >&2', {
        onStdout: async (piece) => void heard.push(text(piece)),
        onStderr: async () => {
          throw new Error('of the callback')
        },
      })
    expect([heard, callbackErrors]).toEqual([['out\n'], [new Error('of the callback')]])
    expect(await host().open().run('true')).not.toHaveProperty('callbackErrors')
  })
  it('that is not there says so', async () => {
    const { stderr, exitCode } = await host().open({ maxOutputBytes: 100 }).run(['no-such-program'])
    expect([text(stderr), exitCode]).toEqual(['no-such-program: command not found\n', 127])
  })
  it.each([
    [undefined, 5000],
    [7000, 7000],
  ])('has the time that it says (%j), or the workspace', async (timeoutMs, ms) => {
    const running = host()
      .open()
      // Without a child: a signal that comes while bash makes one is lost on it.
      .run('trap "echo asked; exit 3" TERM; echo; while :; do :; done', {
        ...(timeoutMs !== undefined && { timeoutMs }),
        onStdout: async (piece) => {
          if (text(piece) !== '\n') return
          await host().clock.advance(ms - 1)
          await host().clock.advance(1)
        },
      })
    const { stdout, timedOut, exitCode } = await running
    expect([text(stdout), timedOut, exitCode]).toEqual(['\nasked\n', true, 124])
  })
  it('is none for a caller who has stopped', async () => {
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(host().open().run('true', { signal })).rejects.toThrow('stopped')
    expect([host().requests, host().restored]).toEqual([[], 0])
  })
  it('is ended when its caller stops', async () => {
    const abort = new AbortController()
    const running = host()
      .open()
      .run('echo; exec sleep 986', {
        signal: abort.signal,
        onStdout: async () => abort.abort(),
      })
    expect(await running).toMatchObject({ exitCode: 143, timedOut: false })
  })
  it('runs when it is its turn', async () => {
    const gate = new CommandGate(1)
    const shell = host().open({ gate })
    const first = Promise.withResolvers<void>()
    const other = gate.run(() => first.promise, new AbortController().signal)
    const running = shell.run('true')
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(host().requests).toEqual([])
    first.resolve()
    await other
    expect((await running).exitCode).toBe(0)
  })
})

describe('pipes that cannot be made', () => {
  it('are none of which one stays open', async () => {
    const pipes = {
      take: async (scratch: string) => {
        if (taken.length === 1) throw new Error('no pipe')
        const pipe = await pool.take(scratch)
        taken.push(pipe.path)
        return pipe
      },
    } as unknown as PipePool
    const taken: string[] = []
    const shell = host().open({ pipes })
    await expect(shell.run('true')).rejects.toThrow('no pipe')
    const ends = readdirSync('/proc/self/fd').filter((fd) =>
      placesOf(process.pid, [`fd/${fd}`])[0]?.startsWith(taken[0] ?? ''),
    )
    expect(ends).toEqual([])
    await expect(shell.start('true')).rejects.toThrow('no pipe')
    expect(await shell.list()).toEqual([])
  })
})

describe('a background process', () => {
  it('is listed, read and killed', async () => {
    const shell = host().open()
    const started = await shell.start(['bash', '-c', 'echo $A; exec sleep 986'], {
      env: { A: 'x' },
    })
    const command = 'bash -c echo $A; exec sleep 986'
    expect(started).toMatchObject({ id: 'p1', command, state: 'running' })
    await expect.poll(async () => text((await shell.output('p1')).stdout)).toBe('x\n')
    expect((await shell.output('p1', { stdoutOffset: 1 })).nextStdoutOffset).toBe(2)
    await shell.kill('p1')
    expect(await shell.list()).toMatchObject([{ id: 'p1', state: 'exited', exitCode: 143 }])
    expect((await shell.start('true')).command).toBe('true')
    await expect(shell.kill('p9')).rejects.toMatchObject({ code: 'invalid-input' })
    await expect(shell.output('p9')).rejects.toMatchObject({ code: 'invalid-input' })
  })
  it('that cannot be started is none', async () => {
    const shell = host().open()
    await expect(shell.start('true', { cwd: '/no' })).rejects.toMatchObject({
      code: 'working-directory-missing',
      message: 'the working directory /no is missing or not a directory',
      hint: 'Make the directory, or run the command in another one.',
      cause: expect.objectContaining({ code: 'not-found' }) as Error,
    })
    writeFileSync(host().at('root/f'), '')
    await expect(shell.run('true', { cwd: '/f' })).rejects.toMatchObject({
      code: 'working-directory-missing',
    })
    await expect(shell.run('true', { cwd: '/../x' })).rejects.toMatchObject({ code: 'path-escape' })
    expect(await shell.list()).toEqual([])
  })
})
