import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@helix-agents/core'
import type { ShellRunOptions } from '@helix-agents/core/provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OutputCapture } from '../../src/shell/output/output-capture.ts'
import { SpillFile } from '../../src/shell/output/spill-file.ts'
import { superviseCommand } from '../../src/shell/run-command.ts'
import { endOf, type StartedProcess } from '../../src/shell/start-process.ts'
import { TestHost, text } from '../open-workspace.ts'

const scratch = mkdtempSync(join(tmpdir(), 'helix-started-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe.each(['scan', 'auto'] as const)(
  'a program that cannot be started, with %s',
  (containment) => {
    const host = new TestHost({ containment })
    let run: (words: readonly string[], options?: ShellRunOptions) => Promise<readonly unknown[]>
    beforeAll(async () => {
      const { ws } = await host.open()
      writeFileSync(join(ws.shellRoot, 'closed'), '#!/bin/sh\n', { mode: 0o644 })
      mkdirSync(join(ws.shellRoot, 'directory'))
      run = async (words, options) => {
        const { exitCode, stderr, stdout } = await ws.shell.run(words, options)
        return [exitCode, text(stderr), text(stdout)]
      }
    })
    afterAll(() => host.dispose())

    it.each([
      [['no-such-program'], 127, 'no-such-program: command not found\n'],
      [['./closed'], 126, './closed: Permission denied\n'],
      [['./directory'], 126, './directory: Permission denied\n'],
    ])('%j says so as a shell does', async (words, exitCode, said) => {
      expect(await run(words)).toEqual([exitCode, said, ''])
    })
    it.each([[['']], [[]], [['a\0b']], [['no-such-program', 'a\0b']]])(
      '%j is no command',
      async (words) => {
        await expect(run(words)).rejects.toMatchObject({
          code: 'invalid-input',
          message: 'the command is empty or holds a NUL',
        })
      },
    )
    it('of which the words are too long says so', async () => {
      const [exitCode, said] = await run(['true', 'x'.repeat(200_000)])
      expect([exitCode, said]).toEqual([126, expect.stringMatching(/: Argument list too long\n$/)])
    })
    it('below a file says so', async () => {
      const said = '/etc/passwd/x: Permission denied\n'
      const missing = '/etc/passwd/x: command not found\n'
      expect(await run(['/etc/passwd/x'])).toEqual(
        containment === 'scan' ? [126, said, ''] : [127, missing, ''],
      )
    })
    it('ends with the code of the signal that ended it', async () => {
      expect(await run(['bash', '-c', 'kill -TERM $$'])).toEqual([143, '', ''])
      expect(await run(['bash', '-c', 'echo out; echo err >&2; exit 7'])).toEqual([
        7,
        'err\n',
        'out\n',
      ])
    })
  },
)

describe('a command that the host cannot start', () => {
  it.each([
    ['EAGAIN', true],
    ['EMFILE', true],
    ['ENFILE', true],
    ['ENOMEM', true],
    ['EINVAL', false],
  ])('for %s may be tried again: %s', async (code, transient) => {
    const child = new EventEmitter() as ChildProcess
    const end = endOf(child, 'tool')
    const cause = Object.assign(new Error(`spawn ${code}`), { code })
    child.emit('error', cause)
    await expect(end).rejects.toMatchObject({
      code: 'provider-failed',
      message: 'the command could not be started',
      transient,
      cause,
    })
  })
  it('for want of a namespace may be tried again, and why is kept for the operator', async () => {
    const started: StartedProcess = {
      pid: 7,
      ended: Promise.resolve({ exitCode: 126, failure: 'no more namespaces' }),
      readers: [] as unknown as StartedProcess['readers'],
      pipePaths: [],
    }
    const hold = { end: async () => {}, endLeftovers: async () => {} }
    const limits = { timeoutMs: 1000, graceMs: 0, clock: systemClock, signal: undefined }
    await expect(superviseCommand(started, hold, limits)).rejects.toMatchObject({
      code: 'provider-failed',
      message: 'the command could not be started',
      transient: true,
      cause: new Error('no more namespaces'),
    })
  })
})

describe('a file of a whole output', () => {
  it('holds what fits, and is whole up to there', () => {
    const spill = new SpillFile(join(scratch, 'spill'), 4)
    expect(spill.isWhole).toBe(true)
    spill.write(Buffer.from('ab'))
    spill.write(Buffer.from('cd'))
    expect(spill.isWhole).toBe(true)
    spill.write(Buffer.from('e'))
    expect(spill.isWhole).toBe(false)
    spill.write(Buffer.from('f'))
    spill.close()
    spill.close()
    expect(readFileSync(spill.hostPath, 'utf8')).toBe('abcd')
    spill.remove()
    spill.remove()
    expect(existsSync(spill.hostPath)).toBe(false)
  })
  it('is not whole when it cannot be written', () => {
    const spill = new SpillFile(join(scratch, 'no', 'directory'), 100)
    spill.write(Buffer.from('ab'))
    expect(spill.isWhole).toBe(false)
    writeFileSync(join(scratch, 'there'), 'of somebody')
    const taken = new SpillFile(join(scratch, 'there'), 100)
    taken.write(Buffer.from('ab'))
    expect([taken.isWhole, readFileSync(taken.hostPath, 'utf8')]).toEqual([false, 'of somebody'])
  })
})

const captureOf = (name: string, maxBytes: number, run: ShellRunOptions = {}) => {
  const spill = new SpillFile(join(scratch, name), maxBytes)
  const errors: Error[] = []
  const options = { limitBytes: 10, spill, callback: 'onStdout', run, errors } as const
  return { spill, errors, capture: new OutputCapture(options) }
}

describe('an output of a command', () => {
  const published: string[] = []
  const publish = (path: string): string => {
    published.push(readFileSync(path, 'utf8'))
    return '/published'
  }

  it('up to its limit is returned, and stored nowhere', () => {
    const { capture, spill } = captureOf('limit', 100)
    void capture.add(Buffer.from('01234'))
    void capture.add(Buffer.from('56789'))
    expect(existsSync(spill.hostPath)).toBe(false)
    const { bytes, ...rest } = capture.finish(publish)
    expect([text(bytes), rest, published]).toEqual(['0123456789', {}, []])
  })
  it('over it is head and tail, and published as a whole', () => {
    const { capture, spill } = captureOf('over', 100)
    void capture.add(Buffer.from('0123456789'))
    void capture.add(Buffer.from('a'))
    void capture.add(Buffer.from('b'))
    const { bytes, cut } = capture.finish(publish)
    expect([text(bytes), cut]).toEqual([
      '03456789ab',
      { totalBytes: 12, headBytes: 1, path: '/published' },
    ])
    expect(published).toEqual(['0123456789ab'])
    expect(existsSync(spill.hostPath)).toBe(false)
  })
  it('that is not whole on disk, or cannot be published, has no path', () => {
    const { capture, spill } = captureOf('part', 11)
    void capture.add(Buffer.from('0123456789ab'))
    expect(capture.finish(publish).cut).toEqual({ totalBytes: 12, headBytes: 1 })
    expect([published.length, existsSync(spill.hostPath)]).toEqual([1, false])
    const other = captureOf('refused', 100)
    void other.capture.add(Buffer.from('0123456789ab'))
    expect(other.capture.finish(() => undefined).cut).toEqual({ totalBytes: 12, headBytes: 1 })
    expect(existsSync(other.spill.hostPath)).toBe(false)
  })
  it('goes to its callback, in memory of its own, and errors are kept', async () => {
    const heard: Uint8Array[] = []
    const run: ShellRunOptions = {
      onStdout: async (piece) => {
        heard.push(piece)
        if (heard.length === 1) throw new Error('of the callback')
        // oxlint-disable-next-line typescript/only-throw-error -- what callers may do
        throw 'text'
      },
    }
    const { capture, errors } = captureOf('callback', 100, run)
    const memory = Buffer.from('one')
    await capture.add(memory)
    memory.fill(120)
    await capture.add(memory)
    expect(heard.map(text)).toEqual(['one', 'xxx'])
    expect(errors).toEqual([new Error('of the callback'), new Error('text')])
    const silent = captureOf('silent', 100, { onStderr: async () => {} })
    expect(silent.capture.add(memory)).toBeUndefined()
  })
})
