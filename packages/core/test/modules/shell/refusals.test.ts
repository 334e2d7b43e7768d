// What is told of a command that is refused, before a command, and of its exit code.
import { expect, test } from 'vitest'
import type { PolicyRejection } from '../../../src/modules/define-module.ts'
import { CommandAllowlist } from '../../../src/modules/shell/allowlist.ts'
import { previewCommand } from '../../../src/modules/shell/command-preview.ts'
import { shellConfigSchema } from '../../../src/modules/shell/config.ts'
import type { RunResult } from '../../../src/modules/shell/contract.ts'
import { describeProcess } from '../../../src/modules/shell/describe-process.ts'
import { exitCodeMeaning } from '../../../src/modules/shell/exit-code.ts'

const HINT =
  'Give one program and its arguments, with special characters in single quotes. Allowed programs: ls, git.'

function refused(run: (allowlist: CommandAllowlist) => void, allowed = ['ls', 'git']) {
  const audits: PolicyRejection[] = []
  const allowlist = new CommandAllowlist(allowed, {
    workspace: 'box',
    audit: (rejection) => void audits.push(rejection),
  })
  try {
    run(allowlist)
  } catch (error) {
    const { code, message, hint } = error as { code: string; message: string; hint: string }
    return { code, message, hint, audits: audits.map(({ key, fields }) => ({ key, fields })) }
  }
  return audits
}

test('a program that is not allowed', () => {
  expect(refused((allowlist) => allowlist.admit('rm -r x'))).toEqual({
    code: 'command-not-allowed',
    message: '"rm" is not an allowed program',
    hint: HINT,
    audits: [{ key: 'rm', fields: { command: 'rm -r x', firstWord: 'rm' } }],
  })
  expect(refused((allowlist) => allowlist.admit(' '))).toMatchObject({
    message: 'the command is empty',
    audits: [{ key: '', fields: { firstWord: '' } }],
  })
  expect(refused((allowlist) => allowlist.admit([]))).toMatchObject({
    message: 'the command is empty',
  })
  const long = 'x'.repeat(300)
  expect(refused((allowlist) => allowlist.admit([long, "it's"]))).toMatchObject({
    message: `"${long.slice(0, 200)}" is not an allowed program`,
    audits: [
      {
        key: long.slice(0, 200),
        fields: { firstWord: long.slice(0, 200), command: long.slice(0, 200) },
      },
    ],
  })
  expect(refused((allowlist) => allowlist.admit(['rm', 'a b']))).toMatchObject({
    audits: [{ fields: { command: "rm 'a b'" } }],
  })
})

test('characters that a shell interprets', () => {
  expect(refused((allowlist) => allowlist.admit('ls | wc'))).toMatchObject({
    code: 'shell-metacharacter',
    message: expect.stringMatching(/^`\|` at position 4 /),
    hint: HINT,
    audits: [{ key: 'ls |', fields: { firstWord: 'ls', character: '`|`' } }],
  })
  expect(refused((allowlist) => allowlist.admit('ls *'))).toMatchObject({
    code: 'expansion',
    audits: [{ key: 'ls *', fields: { character: '`*`' } }],
  })
  expect(refused((allowlist) => allowlist.admit('ls\nwc'))).toMatchObject({
    message: expect.stringMatching(/^U\+000A at position 3 /),
    audits: [{ key: 'ls', fields: { character: 'U+000A' } }],
  })
  expect(refused((allowlist) => allowlist.admit(['ls', 'a\0']))).toMatchObject({
    code: 'shell-metacharacter',
    message: 'an argument contains a NUL character',
    audits: [{ key: 'ls \0', fields: { firstWord: 'ls', character: 'U+0000' } }],
  })
})

test('variables, whatever the command', () => {
  const expected = {
    code: 'shell-metacharacter',
    message: 'environment variables cannot be set here',
    hint: HINT,
    audits: [{ key: 'ls =', fields: { firstWord: 'ls', character: '`=`' } }],
  }
  expect(refused((allowlist) => allowlist.rejectVariables('ls x', ['A']))).toMatchObject(expected)
  expect(refused((allowlist) => allowlist.rejectVariables(['ls'], ['A']))).toMatchObject(expected)
  expect(refused((allowlist) => allowlist.rejectVariables('|', ['A']))).toMatchObject({
    audits: [{ key: ' =', fields: { firstWord: '' } }],
  })
  expect(refused((allowlist) => allowlist.rejectVariables([], ['A']))).toMatchObject({
    audits: [{ fields: { firstWord: '' } }],
  })
  expect(refused((allowlist) => allowlist.rejectVariables('ls', []))).toEqual([])
})

const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)

test('twenty allowed programs are named', () => {
  const hintOf = (count: number) => {
    const found = refused((allowlist) => allowlist.admit('x'), names(count))
    return 'hint' in found ? found.hint.split('Allowed programs: ')[1] : undefined
  }
  expect(hintOf(20)).toBe(`${names(20).join(', ')}.`)
  expect(hintOf(21)).toBe(`${names(20).join(', ')}, ….`)
})

const preview = (command: string, opts?: object) =>
  previewCommand(
    { command, ...(opts && { opts }) },
    shellConfigSchema.parse({ timeoutMs: 50, maxTimeoutMs: 100 }),
  )

test('a command is shown as its words, with where and how long it runs', () => {
  expect(preview("ls 'a b'")).toEqual({
    title: "ls 'a b'",
    body: `words: ["ls","a b"]\ndirectory: /\ntime: at most 50 ms\n\nls 'a b'`,
  })
  expect(
    preview('ls', { cwd: '/src', timeoutMs: 500, env: { A: 'secret', PATH: '/x' } }).body,
  ).toBe('words: ["ls"]\ndirectory: /src\nenvironment: A, PATH="/x"\ntime: at most 100 ms\n\nls')
  expect(preview('ls', { background: true, env: {} }).body).toBe(
    'words: ["ls"]\ndirectory: /\nruns in the background\n\nls',
  )
})

test('a line that is more than words is shown as what it runs', () => {
  expect(preview('ls a && git "$x"').body).toMatch(/^runs: ls a\nruns: git …\n/)
  expect(preview('eval x; ls $(cat y)').body).toMatch(/^runs: .*\nmay run more: /s)
  expect(preview('ls a && git x').title).toBe('ls a && git x')
})

test.each([
  ['ls', 0, undefined],
  ['ls', 1, undefined],
  ['grep x f', 1, 'no line matched'],
  ['/usr/bin/grep x f', 1, 'no line matched'],
  ['LC_ALL=C grep x', 1, 'no line matched'],
  ['cat f | grep x ', 1, 'no line matched'],
  ['grep x | wc', 1, undefined],
  ['true; grep x', 1, undefined],
  ['true && grep x', 1, undefined],
  ['true || grep x', 1, undefined],
  ['true\ngrep x', 1, undefined],
  ['grep x\n', 1, 'no line matched'],
  ['diff a b', 1, 'the files differ'],
  ['diff a b', 2, undefined],
  ['', 1, undefined],
  ['x', 124, 'the time was up'],
  ['x', 126, 'found, but it cannot be executed'],
  ['x', 127, 'command not found'],
  ['x', 128, undefined],
  ['x', 129, 'hung up (SIGHUP)'],
  ['x', 137, 'killed (SIGKILL), perhaps for lack of memory'],
  ['x', 143, 'terminated (SIGTERM)'],
  ['x', 144, undefined],
])('of %j the exit code %i says %j', (command, exitCode, meaning) => {
  const result = { exitCode, timedOut: false } as RunResult
  expect(exitCodeMeaning(command, result)).toBe(meaning)
  expect(exitCodeMeaning(['grep', 'x'], { ...result, exitCode: 1 })).toBe('no line matched')
  expect(exitCodeMeaning(command, { ...result, timedOut: true })).toBe(
    'the time was up; the output is what came until then',
  )
})

test('a process in one line, with 200 characters of its command', () => {
  const process = {
    id: 'p',
    command: 'x'.repeat(201),
    state: 'running',
    startedAt: new Date(0),
  } as const
  expect(describeProcess(process)).toBe(`p running: "${'x'.repeat(200)}"`)
  expect(describeProcess({ ...process, state: 'exited', command: 'y' })).toBe('p exit code ?: "y"')
  expect(describeProcess({ ...process, state: 'exited', exitCode: 0, command: 'y' })).toBe(
    'p exit code 0: "y"',
  )
})
