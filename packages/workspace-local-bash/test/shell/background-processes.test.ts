import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BackgroundProcesses } from '../../src/shell/background-processes.ts'
import type { ProcessEnd, StartedProcess } from '../../src/shell/start-process.ts'
import { openFilesOf } from '../open-files.ts'

let scratch: string
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'helix-background-'))
})
afterEach(() => rmSync(scratch, { recursive: true, force: true }))

const clock = new ManualClock(1000)
const open = (maxBytes = 1_000_000): BackgroundProcesses =>
  new BackgroundProcesses(scratch, { maxBytes, clock })

/** A process that has ended, all outputs read. */
const ended = (end: ProcessEnd | Error): StartedProcess => ({
  pid: 7,
  ended: end instanceof Error ? Promise.reject(end) : Promise.resolve(end),
  readers: [] as unknown as StartedProcess['readers'],
  pipePaths: [],
})
const hold = { end: async () => {}, endLeftovers: async () => {} }

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
async function lately(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await settle()
}
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe('background processes', () => {
  it('run 64 at once', async () => {
    const all = open()
    const made = Array.from({ length: 64 }, (_, index) => all.create(`run ${index}`))
    expect(() => all.create('one more')).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        message: '64 background processes run already',
        hint: 'Kill one of them first.',
      }),
    )
    made[3]?.attach(ended({ exitCode: 0 }), hold)
    await settle()
    expect(all.create('one more').describe()).toEqual({
      id: 'p65',
      command: 'one more',
      state: 'running',
      startedAt: new Date(1000),
    })
    expect(all.list()).toHaveLength(65)
  })
  it('have ended for everybody once they are killed', async () => {
    const all = open()
    const command = all.create('run')
    command.attach(ended({ exitCode: 137 }), { end: lately, endLeftovers: lately })
    await command.kill(0)
    expect(all.list()).toMatchObject([{ id: 'p1', state: 'exited', exitCode: 137 }])
  })
  it('are listed 128 at most: the oldest that ended is forgotten, with its outputs', async () => {
    const all = open()
    const running = all.create('on')
    for (let n = 2; n <= 128; n += 1) {
      const command = all.create(`run ${n}`)
      command.sinks[0](Buffer.from('x'))
      command.attach(ended({ exitCode: n }), hold)
      if (n % 60 === 0 || n === 128) await settle()
    }
    expect(all.list()).toHaveLength(128)
    const output = join(scratch, 'background', 'p2.stdout')
    expect(existsSync(output)).toBe(true)
    all.create('last')
    expect(existsSync(output)).toBe(false)
    const ids = all.list().map(({ id }) => id)
    expect([ids.length, ids.slice(0, 2), ids.at(-1)]).toEqual([128, ['p1', 'p3'], 'p129'])
    expect(running.describe().state).toBe('running')
    expect(all.get('p3').describe()).toEqual({
      id: 'p3',
      command: 'run 3',
      state: 'exited',
      startedAt: new Date(1000),
      exitCode: 3,
    })
  })
  it('are known by their ids', () => {
    const all = open()
    const id = 'x'.repeat(100)
    expect(() => all.get(id)).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        message: `no background process has the id ${'x'.repeat(64)}`,
      }),
    )
    const command = all.create('run')
    command.sinks[1](Buffer.from('x'))
    expect(all.get('p1')).toBe(command)
    all.remove(command)
    expect([all.list(), readdirSync(join(scratch, 'background'))]).toEqual([[], []])
  })
  it('are killed once, while they run', async () => {
    const all = open()
    const killed: number[] = []
    const noting = { ...hold, end: async (graceMs: number) => void killed.push(graceMs) }
    all.create('never attached')
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>()
    all.create('on').attach({ ...ended({ exitCode: 0 }), ended: promise }, noting)
    const killing = all.killAll(30)
    expect(killed).toEqual([30])
    resolve({ exitCode: 137 })
    await killing
    await settle()
    await all.killAll(30)
    expect(killed).toEqual([30])
  })
})

/** Readers of outputs that end when they are told to, or stopped. */
function readers(calls: string[]) {
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const of = ends.map((end, at) => ({ ended: end.promise, stop: () => calls.push(`stop ${at}`) }))
  return { ends, readers: of as unknown as StartedProcess['readers'] }
}
const noting = (calls: string[]) => ({
  end: async (ms: number) => void calls.push(`end ${ms}`),
  endLeftovers: async (ms: number) => {
    await settle()
    calls.push(`leftovers ${ms}`)
  },
})

describe('a background process that ends', () => {
  it('has ended when nothing of it is left, and its outputs are read', async () => {
    const calls: string[] = []
    const { ends, readers: of } = readers(calls)
    const command = open().create('run')
    command.attach({ ...ended({ exitCode: 3 }), readers: of }, noting(calls))
    await settle()
    await settle()
    expect([calls, command.describe().state]).toEqual([['leftovers Infinity'], 'running'])
    command.sinks[0](Buffer.from('late'))
    ends[0].resolve()
    await settle()
    expect(command.describe().state).toBe('running')
    ends[1].resolve()
    await settle()
    expect(calls).toEqual(['leftovers Infinity', 'stop 0', 'stop 1'])
    expect(command.describe()).toMatchObject({ state: 'exited', exitCode: 3 })
    expect(text(command.read({}).stdout)).toBe('late')
  })
  it('does not wait longer than a second for its outputs', async () => {
    const calls: string[] = []
    const command = open().create('run')
    command.attach({ ...ended({ exitCode: 0 }), readers: readers(calls).readers }, noting(calls))
    await settle()
    await settle()
    await clock.advance(999)
    expect(command.describe().state).toBe('running')
    await clock.advance(1)
    await settle()
    expect([calls.slice(1), command.describe().state]).toEqual([['stop 0', 'stop 1'], 'exited'])
  })
  it('is killed when it has ended, and closes its outputs', async () => {
    const calls: string[] = []
    const command = open().create('run')
    const end = Promise.withResolvers<ProcessEnd>()
    command.sinks[0](Buffer.from('x'))
    command.sinks[1](Buffer.from('x'))
    const descriptors = (): number => openFilesOf(scratch)
    const before = descriptors()
    command.attach({ ...ended({ exitCode: 0 }), ended: end.promise }, noting(calls))
    let isOver = false
    const killing = command.kill(40).then(() => (isOver = true))
    await settle()
    expect([isOver, calls]).toEqual([false, ['end 40']])
    end.resolve({ exitCode: 137 })
    await killing
    await expect.poll(() => command.describe().exitCode).toBe(137)
    expect([before, descriptors()]).toEqual([2, 0])
    command.forget()
    expect(readdirSync(join(scratch, 'background'))).toEqual([])
  })
})

describe('the outputs of a background process', () => {
  it('are read on from where the last read ended', () => {
    const command = open().create('run')
    expect(command.read({})).toMatchObject({
      stdout: new Uint8Array(),
      stderr: new Uint8Array(),
      nextStdoutOffset: 0,
      nextStderrOffset: 0,
      process: { id: 'p1' },
    })
    const [out, err] = command.sinks
    out(Buffer.from('abc'))
    err(Buffer.from('defg'))
    const { stdout, stderr, ...rest } = command.read({ stdoutOffset: 1, stderrOffset: -5 })
    expect([text(stdout), text(stderr)]).toEqual(['bc', 'defg'])
    expect(rest).toMatchObject({ nextStdoutOffset: 3, nextStderrOffset: 4 })
    expect(command.read({ stdoutOffset: 9, stderrOffset: 4 })).toMatchObject({
      nextStdoutOffset: 9,
      nextStderrOffset: 4,
    })
    out(Buffer.alloc(300_000))
    expect(command.read({}).stdout.length).toBe(256 * 1024)
  })
  it('are kept up to a limit', () => {
    const command = open(4).create('run')
    const [out] = command.sinks
    out(Buffer.from('ab'))
    out(Buffer.from('cdef'))
    out(Buffer.from('g'))
    expect(text(command.read({}).stdout)).toBe('abcd')
  })
  it.each([
    [{ exitCode: 127, complaint: 'x: command not found\n' }, 'x: command not found\n', 127],
    [{ exitCode: 126, failure: 'of the host' }, 'it could not be started\n', 126],
    [{ exitCode: 3 }, '', 3],
    [new Error('of the system'), '', 126],
  ])('say why it could not be started: %j', async (end, said, exitCode) => {
    const command = open().create('run')
    command.attach(ended(end), hold)
    await settle()
    expect(command.describe()).toMatchObject({ state: 'exited', exitCode })
    expect(text(command.read({}).stderr)).toBe(said)
  })
})
