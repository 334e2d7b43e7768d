import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@helix-agents/core'
import type { ShellRunOptions } from '@helix-agents/core/provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { superviseCommand } from '../../src/shell/run-command.ts'
import { endOf, type StartedProcess } from '../../src/shell/start-process.ts'
import { TestHost, text } from '../open-workspace.ts'

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
