// Programs that are talked to, strays, and the end of a shell, without a namespace.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Launcher } from '../../src/shell/launcher.ts'
import { sendSignal } from '../../src/shell/processes/freeze.ts'
import { scanProcesses } from '../../src/shell/processes/process-scan.ts'
import { readProcess } from '../../src/shell/processes/process-table.ts'
import { text } from '../open-workspace.ts'
import { MARKED_BY_ANOTHER, useShellHost } from './open-shell.ts'

const host = useShellHost()
/** Returns once nothing tells any more whose the stray is. */
const STRAY = `setsid -f env -i sh -c '> ready; exec sleep 986' >/dev/null 2>&1
until [ -e ready ]; do :; done`
/**
 * Says that it was asked to end, and then waits for a file. It has no child: a signal that comes while
 * bash makes one is lost on it.
 */
const obeys = (name: string): string =>
  `trap "> asked-${name}; until [ -e go ]; do :; done; exit 5" TERM; echo; while :; do :; done`
const nowTicks = (): number => 100 * Number.parseFloat(readFileSync('/proc/uptime', 'utf8'))
const ignore = (): void => {}
const closed = expect.objectContaining({ code: 'closed', message: 'the workspace is closed' })

describe('a program that is talked to', () => {
  it('has a channel, and outputs', async () => {
    const said: string[] = []
    const words = ['bash', '-c', 'read -r x <&4; echo out $x; echo err >&2; echo back >&4']
    const { channel, started, hold } = await host()
      .open()
      .startChannelProcess(words, [
        (piece) => void said.push(`1 ${text(piece)}`),
        (piece) => void said.push(`2 ${text(piece)}`),
      ])
    expect(host().requests.map(({ command, path }) => [command, path])).toEqual([[words, '/']])
    channel.write('word\n')
    const [back] = (await once(channel, 'data')) as [Uint8Array]
    expect([text(back), await started.ended]).toEqual(['back\n', { exitCode: 0 }])
    await Promise.all(started.readers.map((reader) => reader.ended))
    expect(said.toSorted()).toEqual(['1 out word\n', '2 err\n'])
    channel.destroy()
    await hold.end(0)
  })
  it('that is not there is an error', async () => {
    const launcher: Launcher = {
      ...host().launcher,
      launch: ({ directory }) => ({
        file: 'x',
        args: [],
        name: 'x',
        cwd: directory.self,
        env: {},
        isNamespaced: false,
        obstacle: 'ENOENT',
      }),
    }
    const shell = host().open({ launcher })
    await expect(shell.startChannelProcess(['x'], [ignore, ignore])).rejects.toMatchObject({
      code: 'provider-failed',
      message: 'the interpreter could not be started',
    })
  })
})

describe('strays', () => {
  it('of the only command are ended with it', async () => {
    expect((await host().open().run(STRAY)).exitCode).toBe(0)
    expect(host().running).toEqual([])
  })
  it('are nobody’s while there are others, until the shell is closed', async () => {
    const shell = host().open()
    await shell.start('exec sleep 986')
    await shell.run(STRAY)
    await expect.poll(() => host().running).toHaveLength(2)
    await shell.close()
    expect(host().running).toEqual([])
  })
  it('that were there before its first command are those of others', async () => {
    const made = spawn('/bin/bash', ['-c', STRAY], { cwd: host().at('root'), stdio: 'ignore' })
    await once(made, 'exit')
    await expect.poll(() => host().running).toHaveLength(1)
    const [stray = 0] = host().running
    onTestFinished(() => sendSignal(stray, 'SIGKILL'))
    // Processes that start within a hundredth of a second have the same time.
    await expect.poll(nowTicks).toBeGreaterThan((readProcess(stray)?.startTime ?? 0) + 1)
    const shell = host().open()
    // What it leaves running makes that all processes are looked at.
    await shell.run('sleep 986 >/dev/null 2>&1 & true')
    expect(host().running).toEqual([stray])
    await shell.close()
    expect(host().running).toEqual([stray])
    sendSignal(stray, 'SIGKILL')
    await expect.poll(() => host().running).toEqual([])
  })
})

async function stranger(
  env: NodeJS.ProcessEnv = MARKED_BY_ANOTHER,
  stdout: number | 'ignore' = 'ignore',
) {
  const child = spawn('/bin/sleep', ['986'], { env, stdio: ['ignore', stdout, 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return { ended: once(child, 'exit'), runs: () => child.exitCode === null && !child.signalCode }
}

describe('a shell that is closed', () => {
  it('starts nothing more, nor what was about to start', async () => {
    const shell = host().open()
    const starting = [
      shell.start('true'),
      shell.startChannelProcess(['true'], [ignore, ignore]),
      shell.run('true'),
    ]
    const all = Promise.allSettled(starting)
    await shell.close()
    for (const start of await all) expect(start).toEqual({ status: 'rejected', reason: closed })
    expect([host().requests, await shell.list()]).toEqual([[], []])
    await expect(shell.run('true')).rejects.toEqual(closed)
    await expect(shell.start('true')).rejects.toEqual(closed)
    await expect(shell.startChannelProcess(['true'], [ignore, ignore])).rejects.toEqual(closed)
  })
  it('has waited for its commands, and ended its background processes', async () => {
    const shell = host().open({ killGraceMs: 20 })
    await shell.start('trap "" TERM; sleep 986; :')
    const begun = Promise.withResolvers<void>()
    let isOver = false
    const running = shell.run('echo; exec sleep 986', { onStdout: async () => begun.resolve() })
    void running.finally(() => (isOver = true))
    await begun.promise
    await shell.close()
    expect([isOver, host().running]).toEqual([true, []])
    expect((await running).exitCode).toBeGreaterThan(128)
    expect((await shell.list()).map(({ state }) => state)).toEqual(['exited'])
  })
  it('lets all of them end as they are asked to, before it looks for others', async () => {
    const shell = host().open()
    const begun = Promise.withResolvers<void>()
    const running = shell.run(obeys('run'), { onStdout: async () => begun.resolve() })
    await begun.promise
    const { id } = await shell.start(obeys('start'))
    await expect.poll(async () => (await shell.output(id)).nextStdoutOffset).toBe(1)
    const closing = shell.close()
    for (const name of ['run', 'start']) {
      await expect
        .poll(() => existsSync(host().at(`root/asked-${name}`)), { interval: 1 })
        .toBe(true)
      for (let scan = 0; scan < 3; scan += 1) await scanProcesses()
      if (name === 'run') writeFileSync(host().at('root/go'), '')
    }
    await closing
    expect((await running).exitCode).toBe(5)
    expect(await shell.list()).toMatchObject([{ state: 'exited', exitCode: 5 }])
  })
  it('looks for others only when its commands have ended', async () => {
    const shell = host().open()
    const begun = Promise.withResolvers<void>()
    const running = shell.run(obeys('run'), { onStdout: async () => begun.resolve() })
    await begun.promise
    const closing = shell.close()
    await expect.poll(() => existsSync(host().at('root/asked-run')), { interval: 1 }).toBe(true)
    for (let scan = 0; scan < 3; scan += 1) await scanProcesses()
    writeFileSync(host().at('root/go'), '')
    await closing
    expect((await running).exitCode).toBe(5)
  })
  it('looks for processes that others may have started', async () => {
    const { ended } = await stranger()
    await host().open().close()
    expect(await ended).toEqual([null, 'SIGKILL'])
  })
  it('looks for those that write to a pipe of it', async () => {
    mkdirSync(host().at('scratch/pipes'), { recursive: true })
    const pipe = openSync(host().at('scratch/pipes/other'), 'w')
    const { ended } = await stranger({}, pipe)
    closeSync(pipe)
    await host().open().close()
    expect(await ended).toEqual([null, 'SIGKILL'])
  })
  it('looks for none where nobody can have', async () => {
    const { runs } = await stranger()
    await host()
      .open({ isOnlyHere: () => true })
      .close()
    expect(runs()).toBe(true)
  })
  it('looks for all after a command that has no namespace', async () => {
    const shell = host().open({ isOnlyHere: () => true })
    await shell.run('true')
    const { ended } = await stranger()
    await shell.close()
    expect(await ended).toEqual([null, 'SIGKILL'])
    expect(host().logger.lines).toEqual([])
  })
})
