import { expect, test } from 'vitest'
import { logMessages } from '../../../src/logging/log-messages.ts'
import type { PolicyRejection } from '../../../src/modules/define-module.ts'
import { CommandAllowlist } from '../../../src/modules/shell/allowlist.ts'
import { bypasses } from './bypass-corpus.ts'

const allowed = ['ls', 'cat', 'echo', 'git', 'grep']

function createAllowlist(list: readonly string[] = allowed) {
  const audits: PolicyRejection[] = []
  const context = {
    workspace: 'box',
    audit: (rejection: PolicyRejection) => void audits.push(rejection),
  }
  return { allowlist: new CommandAllowlist(list, context), audits }
}

const messageOf: Record<string, string> = {
  'shell-metacharacter': logMessages.shellMetacharacterRejected,
  expansion: logMessages.expansionRejected,
  'command-not-allowed': logMessages.commandNotInAllowlist,
}

function refusalOf(list: CommandAllowlist, command: string | readonly string[]): unknown {
  try {
    return list.admit(command)
  } catch (error) {
    return error
  }
}

test('the corpus is large', () => {
  expect(new Set(bypasses.map(({ line }) => line)).size).toBeGreaterThan(500)
})

test('every bypass is refused with its code, and audited once', () => {
  for (const { line, code } of bypasses) {
    const { allowlist, audits } = createAllowlist()
    const refusal = refusalOf(allowlist, line)
    expect([line, refusal]).toMatchObject([line, { name: 'PolicyError', code, transient: false }])
    expect([line, audits.length, audits[0]?.code, audits[0]?.message]).toEqual([
      line,
      1,
      code,
      messageOf[code],
    ])
  }
})

test('what a model or a log reads of a refusal has no control character and is short', () => {
  for (const { line } of bypasses) {
    const { allowlist, audits } = createAllowlist()
    const refusal = refusalOf(allowlist, line)
    // oxlint-disable-next-line eslint/no-control-regex
    expect((refusal as Error).message).not.toMatch(/[\0-\x1F]/)
    expect(JSON.stringify(audits[0]!.fields).length).toBeLessThan(3000)
  }
})

test.each([
  ['ls', ['ls']],
  ['  ls   -la\t/tmp ', ['ls', '-la', '/tmp']],
  ["echo 'a b' c", ['echo', 'a b', 'c']],
  ['echo "a b" c', ['echo', 'a b', 'c']],
  ["echo 'a;b|c&d<e>f(g)$h`i!j*k?l[m]n{o}p~q#r'", ['echo', 'a;b|c&d<e>f(g)$h`i!j*k?l[m]n{o}p~q#r']],
  ['echo "a;b|c&d<e>f(g)*?[]{}~#"', ['echo', 'a;b|c&d<e>f(g)*?[]{}~#']],
  ['echo "\\$HOME \\"x\\" \\\\ \\a \\`"', ['echo', '$HOME "x" \\ \\a `']],
  [String.raw`echo \$HOME \; \* \~ \# \! a\ b`, ['echo', '$HOME', ';', '*', '~', '#', '!', 'a b']],
  ['echo a#b HEAD~1 a~ x=y', ['echo', 'a#b', 'HEAD~1', 'a~', 'x=y']],
  ['echo \'\' ""', ['echo', '', '']],
  ['echo a\'\'b""c\'d\'"e"', ['echo', 'abcde']],
  ["'ls' -la", ['ls', '-la']],
  ['l"s"', ['ls']],
  ['cat café naïve 日本語', ['cat', 'café', 'naïve', '日本語']],
  ["echo '；＄（）\u00A0“”—🙂'", ['echo', '；＄（）\u00A0“”—🙂']],
  ["grep 'a\tb' f", ['grep', 'a\tb', 'f']],
  ['git -c core.pager=id log', ['git', '-c', 'core.pager=id', 'log']],
  ['ls --color=auto -- -x', ['ls', '--color=auto', '--', '-x']],
  ['git log --format=%H @^', ['git', 'log', '--format=%H', '@^']],
])('%s is split as a shell splits it', (line, words) => {
  const { allowlist, audits } = createAllowlist()
  expect(allowlist.admit(line)).toEqual(words)
  expect(audits).toEqual([])
})

test('an option that looks dangerous stays one argument', () => {
  const { allowlist } = createAllowlist()
  expect(allowlist.admit("git '-c core.sshCommand=id; x' status")).toEqual([
    'git',
    '-c core.sshCommand=id; x',
    'status',
  ])
})

test('a path runs only when it is listed as it is written', () => {
  const { allowlist } = createAllowlist(['/bin/ls', './build.sh'])
  expect(allowlist.admit('/bin/ls -l')).toEqual(['/bin/ls', '-l'])
  expect(allowlist.admit('./build.sh')).toEqual(['./build.sh'])
  for (const line of ['ls', '/bin//ls', '/bin/./ls', '/usr/bin/ls', 'build.sh']) {
    expect(() => allowlist.admit(line)).toThrow(
      expect.objectContaining({ code: 'command-not-allowed' }),
    )
  }
})

test('an argument vector is checked as well, and handed on untouched', () => {
  const { allowlist, audits } = createAllowlist()
  expect(allowlist.admit(['ls', '; $(id)\n*'])).toEqual(['ls', '; $(id)\n*'])
  expect(refusalOf(allowlist, [])).toMatchObject({ code: 'command-not-allowed' })
  expect(refusalOf(allowlist, ['rm'])).toMatchObject({ code: 'command-not-allowed' })
  expect(refusalOf(allowlist, ['ls', 'a\0b'])).toMatchObject({ code: 'shell-metacharacter' })
  expect(audits).toHaveLength(3)
})

test('the key is the first word and the character, so repetitions with other arguments are one event', () => {
  const { allowlist, audits } = createAllowlist()
  for (let i = 0; i < 3; i++) refusalOf(allowlist, `ls; ${i}`)
  refusalOf(allowlist, 'ls | x')
  refusalOf(allowlist, 'rm -rf /')
  expect(audits.map(({ key }) => key)).toEqual(['ls ;', 'ls ;', 'ls ;', 'ls |', 'rm'])
})

test('a refusal names the character, its position and what is allowed', () => {
  const { allowlist } = createAllowlist()
  expect(refusalOf(allowlist, 'ls a; id')).toMatchObject({
    message: expect.stringContaining('position 5'),
    hint: expect.stringContaining('ls, cat, echo, git, grep'),
  })
  expect(refusalOf(allowlist, 'ls\u00A0x')).toMatchObject({
    message: expect.stringContaining('U+00A0'),
  })
})

test('a huge line is refused in linear time', () => {
  const { allowlist, audits } = createAllowlist()
  refusalOf(allowlist, `${'x'.repeat(1_000_000)};`)
  refusalOf(allowlist, `ls ${"'a' ".repeat(200_000)};`)
  expect(audits).toHaveLength(2)
  expect(audits[0]!.key.length).toBeLessThan(300)
})
