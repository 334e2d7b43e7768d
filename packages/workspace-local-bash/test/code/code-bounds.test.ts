import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@helix-agents/core'
import { RecordingLogger } from '@helix-agents/core/testing'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Interpreter, type StartChannelProcess } from '../../src/code/interpreter.ts'
import { findInterpreters } from '../../src/code/languages.ts'
import { LocalCodeInterpreter } from '../../src/code/local-code-interpreter.ts'
import { findTooOld } from '../../src/code/program-version.ts'
import { TestHost } from '../open-workspace.ts'

const host = new TestHost()
let ws: LocalBashWorkspace
beforeAll(async () => {
  ws = (await host.open()).ws
})
afterAll(() => host.dispose())

const logger = new RecordingLogger()
const startInShell: StartChannelProcess = (words, sinks) =>
  ws.shell.startChannelProcess(words, sinks)

/** Code of a machine that has two languages, of which one is started by these words. */
function codeOf(
  start: StartChannelProcess,
  words: readonly string[] = ['bash', '-c', 'exit 5'],
  defaultTimeoutMs = 10_000,
): LocalCodeInterpreter {
  return new LocalCodeInterpreter({
    interpreters: new Map([
      ['bash', words],
      ['python', ['python3']],
    ]),
    start,
    inTurn: (run) => run(),
    defaultTimeoutMs,
    maxOutputBytes: 1000,
    killGraceMs: 0,
    clock: systemClock,
    logger,
  })
}
const noStart: StartChannelProcess = async () => {
  throw new Error('no process')
}
const input = (message: string, hint?: string): unknown =>
  expect.objectContaining({ code: 'invalid-input', message, ...(hint !== undefined && { hint }) })

describe('what code is refused', () => {
  const longest = 'x'.repeat(8 * 1024 * 1024)
  it('with a NUL, and over 8 Mi characters', async () => {
    const code = codeOf(noStart)
    await expect(code.runCode('bash', 'a\0b')).rejects.toEqual(input('the code holds a NUL'))
    await expect(code.runCode('bash', `${longest}x`)).rejects.toEqual(
      input(
        'the code has more than 8388608 characters',
        'Put data into files and read them from the code.',
      ),
    )
    await expect(code.runCode('bash', longest)).rejects.toThrow('no process')
  })
  it('in a language that the workspace has not', async () => {
    const name = 'l'.repeat(50)
    await expect(codeOf(noStart).runCode(name, '1')).rejects.toEqual(
      input(`"${'l'.repeat(40)}" is not a language of this workspace`, 'Languages: bash, python.'),
    )
    await expect(codeOf(noStart).createContext('ruby')).rejects.toEqual(
      input('"ruby" is not a language of this workspace'),
    )
  })
  it('in a context that is not there', async () => {
    const id = 'c9' as Awaited<ReturnType<LocalCodeInterpreter['createContext']>>
    const problem = input(
      'there is no code context of this id any more',
      'Open another one with create_code_context.',
    )
    await expect(codeOf(noStart).runInContext(id, '1')).rejects.toEqual(problem)
    await expect(codeOf(noStart).deleteContext(id)).rejects.toEqual(problem)
  })
  it('in a context, as without one', async () => {
    const code = codeOf(startInShell)
    const id = await code.createContext('bash')
    await expect(code.runInContext(id, '\0')).rejects.toEqual(input('the code holds a NUL'))
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(code.runInContext(id, '1', { signal })).rejects.toThrow('too late')
    await expect(code.runCode('bash', '1', { signal })).rejects.toThrow('too late')
    await code.deleteContext(id)
    await expect(code.runInContext(id, '1')).rejects.toEqual(
      input('there is no code context of this id any more'),
    )
  })
  it('once the workspace is closed', async () => {
    const code = codeOf(noStart)
    await code.close()
    const closed = expect.objectContaining({ code: 'closed', message: 'the workspace is closed' })
    await expect(code.runCode('bash', '1')).rejects.toEqual(closed)
    await expect(code.createContext('bash')).rejects.toEqual(closed)
  })
})

describe('contexts', () => {
  it('are 16 at most, those included that are starting', async () => {
    const code = codeOf(() => new Promise(() => {}))
    for (let made = 0; made < 16; made += 1) void code.createContext('bash')
    await expect(code.createContext('bash')).rejects.toEqual(
      input('16 contexts are open already', 'Delete one of them first.'),
    )
    await code.close()
  })
  it('that cannot be started take no place', async () => {
    const code = codeOf(noStart)
    for (let made = 0; made < 17; made += 1) {
      await expect(code.createContext('bash')).rejects.toThrow('no process')
    }
  })
  it('have ids of their own, and names of what they were told', async () => {
    const code = codeOf(startInShell)
    const ids = [await code.createContext('bash'), await code.createContext('bash')]
    expect(ids).toEqual(['c1', 'c2'])
    expect(code.languages).toEqual(['bash', 'python'])
    await code.close()
  })
})

const start = async (...words: readonly string[]): Promise<Interpreter> => {
  const interpreter = new Interpreter()
  await interpreter.start(startInShell, words)
  return interpreter
}

describe('the end of an interpreter', () => {
  const limits = { timeoutMs: 10_000, maxOutputBytes: 1000, killGraceMs: 0, clock: systemClock }
  it('with a code of its own is told, with what it printed', async () => {
    const run = await codeOf(startInShell).runCode('bash', 'x')
    expect(run).toEqual({
      outputs: [],
      exitCode: 5,
      error: {
        name: 'InterpreterExit',
        message: 'the interpreter ended with exit code 5, and its context is gone',
      },
    })
    const quiet = await start('bash', '-c', 'read -r -n 1 -u 4; exit 0')
    expect(await quiet.run('x', {}, limits)).toEqual({
      outputs: [],
      callbackErrors: [],
      exitCode: 0,
      ended: 'exited',
    })
  })
  it('comes at once for a run that is aborted already', async () => {
    const interpreter = await start('sleep', '600')
    const run = await interpreter.run('x', { signal: AbortSignal.abort() }, limits)
    expect(run).toMatchObject({ ended: 'aborted', exitCode: 124 })
    await expect(interpreter.run('x', {}, limits)).rejects.toThrow(TypeError)
  })
  it('at its time limit is told', async () => {
    const sleeping = codeOf(startInShell, ['sleep', '600'], 1)
    const message = 'the code ran for more than 1 ms and was ended, with its context'
    expect(await sleeping.runCode('bash', 'x')).toEqual({
      outputs: [],
      exitCode: 124,
      error: { name: 'TimeoutError', message },
    })
    const longer = await sleeping.runCode('bash', 'x', { timeoutMs: 2 })
    expect(longer.error?.message).toContain('more than 2 ms')
  })
  it('that was never started is no run', async () => {
    await expect(new Interpreter().run('x', {}, limits)).rejects.toThrow(
      'the interpreter was not started',
    )
    await new Interpreter().end(0)
  })
  it('leaves the error of a callback in the log', async () => {
    const error = new Error('of the callback')
    const onOutput = async (): Promise<never> => {
      throw error
    }
    const program = 'read -r -d "" -u 4 m; read -r -d "" -u 4; printf "out\\x1e$m\\x1e"; exit 0'
    const code = codeOf(startInShell, ['bash', '-c', program])
    expect(await code.runCode('bash', 'x', { onOutput })).toMatchObject({ exitCode: 0 })
    const message = 'a callback for the output of code failed'
    expect(logger.with(message)).toEqual([{ level: 'warn', message, fields: { error } }])
  })
})

describe('the version of a program', () => {
  const programs = join(host.tmpdirRoot, 'programs')
  const program = (name: string, script: string): string => {
    mkdirSync(programs, { recursive: true })
    const path = join(programs, name)
    writeFileSync(path, `#!/bin/sh\n${script}\n`)
    chmodSync(path, 0o755)
    return path
  }
  const least = { version: [3, 8], words: ['print'] } as const
  it.each([
    ['3.7', { found: '3.7', least: '3.8' }],
    ['2.12', { found: '2.12', least: '3.8' }],
    ['3.8', undefined],
    ['3.10', undefined],
    ['4.0', undefined],
    ['unknown', undefined],
    ['v3.7', undefined],
  ])('%s', async (version, expected) => {
    expect(await findTooOld(program(`says-${version}`, `echo ${version}`), least)).toEqual(expected)
  })
  it('is unknown of one that fails', async () => {
    expect(await findTooOld(program('fails', 'echo 1.0; exit 1'), least)).toBeUndefined()
  })
  it('is unknown of one that says more than a kilobyte', async () => {
    const talks = program('talks', 'echo 1.0; printf %2000s')
    expect(await findTooOld(talks, least)).toBeUndefined()
  })
  it('is asked once, far from any workspace, with no variable of the host', async () => {
    const said = join(programs, 'said')
    const file = program('asked', `echo "$* $PWD [$HOME]" >> ${said}; echo 3.9`)
    await Promise.all([findTooOld(file, least), findTooOld(file, least)])
    await findTooOld(file, least)
    expect(readFileSync(said, 'utf8')).toBe('print / []\n')
  })
  it('that is too old has a hint for the operator', async () => {
    program('python3', 'echo 3.6')
    await expect(findInterpreters(['python'], programs, () => true)).rejects.toMatchObject({
      code: 'capability-missing',
      hint: 'An operator must install python3 3.8 or later, or declare other languages.',
    })
  })
})

describe('a language that is not there', () => {
  it.each([
    [
      'python',
      'code in "python" needs the program python3, which the host does not have',
      'An operator must install python3, or declare other languages.',
    ],
    [
      'r'.repeat(50),
      `local-bash runs no code in "${'r'.repeat(40)}"`,
      'Declare of these languages: python, javascript, bash.',
    ],
  ])('%s', async (name, message, hint) => {
    await expect(findInterpreters([name], '', () => false)).rejects.toMatchObject({
      code: 'capability-missing',
      message,
      hint,
    })
  })
})
