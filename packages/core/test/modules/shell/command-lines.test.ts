// What is known of command lines before they run, word for word.
import { expect, test } from 'vitest'
import { readCommandLine } from '../../../src/modules/shell/command-line.ts'
import { parseWords, quoteWord } from '../../../src/modules/shell/words.ts'

const LINES = [
  '',
  '   ',
  'ls',
  '  ls\t-l  ',
  'ls -l "a b" \'c d\' e\\ f',
  'a"b"c\'d\'e',
  "''",
  '""',
  '"a\\"b" "a\\\\b" "a\\b" "a\\$b"',
  "'a",
  '"a',
  'a\\',
  'a\\\nb',
  'a;b',
  'a; b;',
  'a & b &',
  'a && b || c | d |& e',
  'a\nb\r\nc',
  '(a; b)',
  '((a))',
  '( (a) )',
  'a (b)',
  'a(b)',
  '{ a; b; }',
  '{a,b}',
  'a {b,c}',
  'a }',
  '{',
  'x{',
  'echo {}',
  'a > b',
  'a >b >>c <d',
  'a 2> b',
  'a 2>&1',
  'a 10>b',
  'a x2> b',
  'a "2"> b',
  'a &> b',
  'a >| b',
  'a <> b',
  'a <<E',
  'a <<< b',
  'a <(b)',
  'a >(b)',
  '> a',
  '> a b c',
  'A=1 b',
  'A=1',
  'A=$B c',
  'A="x y" B=2 c d',
  'a B=1',
  '$a',
  'a $b',
  'a "$b"',
  "a '$b'",
  'a $(b)',
  'a "$(b)"',
  'a `b`',
  'a "`b`"',
  'a ${b}',
  'a $',
  'a $1 $? $$',
  "a $'b'",
  'a $"b"',
  'a \\$b',
  'a *',
  'a ?',
  'a [b]',
  'a ~',
  'a ~/b',
  'a b~',
  'a !b',
  'a "!b"',
  'a #b',
  'a#b',
  '# a',
  'a\u0000b',
  'a\u0007b',
  'a\u00A0b',
  'é ü',
  'if a; then b; else c; fi',
  'for x in a b; do c $x; done',
  'while a; do b; done',
  'until a; do b; done',
  'case x in a) b;; esac',
  'f() { a; }',
  'function f { a; }',
  '! a',
  'time a',
  'exec a b',
  'command a',
  'env a b',
  'env -i A=1 a b',
  'env -u X a',
  'sudo a',
  'sudo -u root a b',
  'nohup a &',
  'nice -n 5 a',
  'timeout 5 a',
  'timeout -k 1 5 a b',
  'xargs a',
  'xargs -n 1 a b',
  'xargs',
  'find . -exec a {} ;',
  'find . -exec a {} \\;',
  'find . -delete',
  "sh -c 'a b'",
  "sh -c 'a $1' x",
  'bash -lc "a; b"',
  'sh a.sh',
  'eval a',
  "eval 'a; b'",
  'source a',
  '. a',
  'bash',
  'python -c "x"',
  "node -e 'x'",
  'git -c core.pager=a log',
  'ssh host a',
  '/usr/bin/env a',
  'A=1 sudo sh -c "b"',
  'sh -c \'sh -c "sh -c a"\'',
  'a | sh',
  'busybox sh -c a',
  'watch a',
  'setsid a',
  'stdbuf -o0 a',
  'a; }',
  'a |',
  '| a',
  '&& a',
  'a ;; b',
] as const

test('the commands of a line, and why there may be more', async () => {
  const texts = LINES.map((line) => {
    const { words, offence } = parseWords(line)
    return [
      JSON.stringify(line),
      `  line:  ${JSON.stringify(readCommandLine(line), (_key, value: unknown) => value ?? null)}`,
      `  words: ${JSON.stringify(words ?? offence)}`,
      '',
    ].join('\n')
  })
  await expect(texts.join('\n')).toMatchFileSnapshot('command-lines.txt')
})

const opaque = (...names: readonly string[]) => readCommandLine('ls', names).opaque

test('variables that choose programs make a line opaque', () => {
  expect(opaque()).toBeUndefined()
  expect(opaque('HOME', 'MY_VARIABLE')).toBeUndefined()
  const choosing = ['PATH', 'LD_PRELOAD', 'BASH_ENV', 'GIT_SSH_COMMAND', 'PAGER', 'NODE_OPTIONS']
  expect(choosing.map((name) => [name, opaque('HOME', name)])).toMatchInlineSnapshot(`
    [
      [
        "PATH",
        "PATH can make a program start another one",
      ],
      [
        "LD_PRELOAD",
        "LD_PRELOAD can make a program start another one",
      ],
      [
        "BASH_ENV",
        "BASH_ENV can make a program start another one",
      ],
      [
        "GIT_SSH_COMMAND",
        "GIT_SSH_COMMAND can make a program start another one",
      ],
      [
        "PAGER",
        "PAGER can make a program start another one",
      ],
      [
        "NODE_OPTIONS",
        "NODE_OPTIONS can make a program start another one",
      ],
    ]
  `)
})

test('a word is quoted where a shell would read it otherwise', () => {
  const words = ['a', '', 'a b', "it's", 'a"b', '$x', 'a/b.c-d_e', 'é', '=', 'a=b', '~', '#', '\n']
  expect(words.map(quoteWord)).toMatchInlineSnapshot(`
    [
      "a",
      "''",
      "'a b'",
      "'it'\\''s'",
      "'a"b'",
      "'$x'",
      "a/b.c-d_e",
      "'é'",
      "'='",
      "'a=b'",
      "'~'",
      "'#'",
      "'
    '",
    ]
  `)
  for (const word of words) expect(parseWords(quoteWord(word)).words ?? [word]).toEqual([word])
})
