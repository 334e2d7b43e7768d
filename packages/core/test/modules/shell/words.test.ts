import { spawnSync } from 'node:child_process'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseWords, quoteWord } from '../../../src/modules/shell/words.ts'
import { bypasses } from './bypass-corpus.ts'

/** What may be in an argument: no control characters but the tab, no halves of pairs. */
const word = fc
  .string({ unit: 'binary', maxLength: 20 })
  .map((text) => text.replaceAll(/[^\P{Cc}\t]|\p{Cs}/gu, ''))
const hostile = fc.string({
  unit: fc.constantFrom(
    ...Array.from('ab \t\'"\\$`;&|<>(){}[]*?~#!=:^%@-/é；\u00A0🙂\u0301\u2028'),
  ),
  maxLength: 30,
})
const argv = fc.array(fc.oneof(word, hostile), { minLength: 1, maxLength: 8 })

const quoteStyles: readonly ((text: string) => string)[] = [
  (text) => `'${text.replaceAll("'", `'\\''`)}'`,
  (text) => `'${text.replaceAll("'", `'"'"'`)}'`,
  (text) => `"${text.replaceAll(/[$`"\\]/g, '\\$&').replaceAll('!', `"'!'"`)}"`,
  (text) =>
    text === '' ? `""` : text.replaceAll(/[ -~\t]/g, (c) => (/\w/.test(c) ? c : `\\${c}`)),
  quoteWord,
]

test('a quoted argument vector is read back unchanged', () => {
  fc.assert(
    fc.property(argv, fc.array(fc.nat(), { minLength: 8, maxLength: 8 }), (words, styles) => {
      const line = words
        .map((text, index) => {
          const style = styles[index]! % quoteStyles.length
          // Without quotes only ASCII is free of look-alikes.
          const isPlain = style !== 3 || /^[ -~\t]*$/.test(text)
          return quoteStyles[isPlain ? style : 0]!(text)
        })
        .join(' ')
      const first = parseWords(line)
      // An assignment in front is refused unless it was quoted.
      if (first.offence?.detail === 'sets a variable') return
      expect(first).toEqual({ words })
    }),
    { numRuns: 2000 },
  )
})

/** What a real shell makes of the line, as arguments of a function that prints them. */
function splitBy(shell: string, lines: readonly string[]): string[][] {
  // Each line is given on its own, as an argument: one that breaks the script breaks only itself.
  const script = `show() { for w in "$@"; do printf '%s\\0' "$w"; done; printf '\\001\\0'; }\n`
  const body = lines.map((line) => `show ${line}`).join('\n')
  const result = spawnSync(shell, ['-s'], {
    input: `${script}${body}\n`,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: '/root', LC_ALL: 'C.UTF-8' },
    maxBuffer: 64 * 1024 * 1024,
  })
  expect([result.status, result.stderr]).toEqual([0, ''])
  return result.stdout
    .split('\u0001\0')
    .slice(0, -1)
    .map((words) => words.split('\0').slice(0, -1))
}

const shells = [['sh'], ['dash'], ['bash']].filter(
  ([shell]) => spawnSync(shell!, ['-c', 'exit 0']).status === 0,
)

test.each(shells)('%s splits every line that passes into the same words', (shell) => {
  const alphabet = 'ab1 \t\'"\\$`;&|<>(){}[]*?~#!=:^%@-+,./é；\u00A0日'
  const noise = fc.array(
    fc.string({ unit: fc.constantFrom(...Array.from(alphabet)), maxLength: 16 }),
    {
      minLength: 4000,
      maxLength: 4000,
      size: 'max',
    },
  )
  fc.assert(
    fc.property(noise, (lines) => {
      const passing = lines
        .map((line) => ({ line, words: parseWords(line).words }))
        .filter(({ words }) => words !== undefined)
      expect(passing.length).toBeGreaterThan(100)
      const real = splitBy(
        shell,
        passing.map(({ line }) => line),
      )
      expect(real.length).toBe(passing.length)
      passing.forEach(({ line, words }, index) => {
        expect([line, real[index]]).toEqual([line, words])
      })
    }),
    { numRuns: 5 },
  )
})

test.each(shells)('%s reads a re-quoted word as it was', (shell) => {
  fc.assert(
    fc.property(fc.array(argv, { minLength: 50, maxLength: 50, size: 'max' }), (vectors) => {
      const lines = vectors.map((words) => words.map(quoteWord).join(' '))
      expect(splitBy(shell, lines)).toEqual(vectors)
    }),
    { numRuns: 5 },
  )
})

test('an offence says where it is and which command it was', () => {
  expect(parseWords('git log; id').offence).toMatchObject({
    kind: 'metacharacter',
    character: ';',
    index: 7,
    firstWord: 'git',
  })
  expect(parseWords("ls 'a b").offence).toMatchObject({ character: "'", index: 3 })
  expect(parseWords('ls 🙂').offence).toMatchObject({ character: '🙂', index: 3 })
  expect(parseWords('echo *').offence).toMatchObject({ kind: 'expansion', character: '*' })
})

test('no line of the corpus that a shell would interpret is plain words', () => {
  const plain = bypasses
    .filter(({ code }) => code !== 'command-not-allowed')
    .filter(({ line }) => parseWords(line).offence === undefined)
  expect(plain).toEqual([])
})
