// Commands on their way into a container, and their results on the way back.
import { describe, expect, it } from 'vitest'
import type { ExecOutcome, ExecOutput } from '../../src/driver/port.ts'
import {
  SPILL_DIRECTORY,
  toContainerPath,
  toWorkspacePath,
} from '../../src/modules/container-path.ts'
import { checkEnv, titleOf, toArgv } from '../../src/modules/shell/command.ts'
import { toRunResult } from '../../src/modules/shell/run-result.ts'

const invalid = (message: string, hint?: string) =>
  expect.objectContaining({ code: 'invalid-input', message, ...(hint && { hint }) })

describe('a command', () => {
  it('is a line for bash without start-up files, or words as they are', () => {
    const bash = ['bash', '--noprofile', '--norc', '-c', '--']
    expect(toArgv('ls; -x')).toEqual([...bash, 'ls; -x'])
    expect(toArgv('')).toEqual([...bash, ''])
    expect(toArgv(['ls', ''])).toEqual(['ls', ''])
    expect(titleOf('ls  -x')).toBe('ls  -x')
    expect(titleOf(['ls', '-x'])).toBe('ls -x')
  })

  it.each([[[]], [['']], [['ls', 'a\0b']], ['a\0b']])('%j is none', (command) => {
    expect(() => toArgv(command)).toThrow(invalid('the command is empty or holds a NUL'))
  })

  it('has words of less than 128 KiB', () => {
    const longest = 'é'.repeat(64 * 1024 - 1)
    expect(toArgv([longest, `${longest}x`])).toHaveLength(2)
    const hint = 'Write what is long to a file, and use the file in a command.'
    const message = 'the command is longer than 131071 bytes'
    expect(() => toArgv(`${longest}é`)).toThrow(invalid(message, hint))
  })
})

describe('the variables of a command', () => {
  it('have names and values that a container takes', () => {
    expect(() => checkEnv(undefined)).not.toThrow()
    expect(() => checkEnv({ _a1: '', A: 'a=b\n' })).not.toThrow()
  })

  it.each(['', '1a', 'a-b', 'a b', 'é', 'a='])('a name is not %j', (name) => {
    const hint = 'Names have letters, digits and underscores; values hold no NUL.'
    const message = `the variable ${JSON.stringify(name)} cannot be set`
    expect(() => checkEnv({ ok: '', [name]: 'x' })).toThrow(invalid(message, hint))
  })

  it('a value has no NUL, and a long name is not told whole', () => {
    const name = 'n'.repeat(41)
    const message = `the variable "${'n'.repeat(40)}" cannot be set`
    expect(() => checkEnv({ [name]: 'a\0' })).toThrow(invalid(message))
  })
})

describe('a path', () => {
  it.each([
    ['/', '/workspace'],
    ['/a/b', '/workspace/a/b'],
  ])('%s of the workspace is %s in the container', (path, containerPath) => {
    expect(toContainerPath(path)).toBe(containerPath)
    expect(toWorkspacePath(containerPath)).toBe(path)
  })

  it.each(['/', '/workspaces', '/tmp/workspace'])('%s is of no workspace', (path) => {
    expect(toWorkspacePath(path)).toBeUndefined()
  })
})

describe('a result', () => {
  const bytes = new TextEncoder().encode('ab')
  const output: ExecOutput = { bytes, totalBytes: 2 }
  const outcome: ExecOutcome = {
    exitCode: 7,
    stdout: output,
    stderr: { bytes: new Uint8Array(), totalBytes: 0 },
    timedOut: false,
    aborted: false,
    durationMs: 12,
    epoch: null,
  }

  it('has both outputs, how it ended and how long it took', () => {
    expect(toRunResult(outcome, [])).toEqual({
      stdout: bytes,
      stderr: new Uint8Array(),
      exitCode: 7,
      durationMs: 12,
      timedOut: false,
    })
    const errors = [new Error('no')]
    expect(toRunResult(outcome, errors)).toMatchObject({ callbackErrors: errors })
  })

  it.each([
    [{ timedOut: true, exitCode: 0 }, 124],
    [{ timedOut: true, aborted: true, exitCode: 1 }, 124],
    [{ aborted: true, exitCode: 0 }, 137],
    [{ aborted: true, exitCode: 3 }, 3],
    [{ exitCode: 0 }, 0],
  ])('of %j has the exit code %s', (ended, exitCode) => {
    expect(toRunResult({ ...outcome, ...ended }, []).exitCode).toBe(exitCode)
  })

  it('says of an output that was cut where the whole is', () => {
    const spillPath = `${SPILL_DIRECTORY}/x`
    const cut = { bytes, totalBytes: 9, headBytes: 1 }
    const stored = { ...cut, spillPath }
    const result = toRunResult({ ...outcome, stdout: stored, stderr: cut }, [])
    const path = toWorkspacePath(spillPath)
    expect(path).toMatch(/\/output\/x$/)
    expect(result.stdoutCut).toEqual({ totalBytes: 9, headBytes: 1, path })
    expect(result.stderrCut).toEqual({ totalBytes: 9, headBytes: 1 })
    const elsewhere = toRunResult({ ...outcome, stdout: { ...cut, spillPath: '/tmp/x' } }, [])
    expect(elsewhere.stdoutCut).toEqual({ totalBytes: 9, headBytes: 1 })
    // Stored, but not cut.
    expect(toRunResult({ ...outcome, stdout: { ...output, spillPath } }, [])).not.toHaveProperty(
      'stdoutCut',
    )
  })
})
