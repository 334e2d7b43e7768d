// The filters that are made here give what the programs of the machine give, byte for byte.
import { spawnSync } from 'node:child_process'
import { noopLogger, systemClock } from '@helix-agents/core'
import { TestSampler } from '@helix-agents/core/testing'
import { quoteWord } from '@helix-agents/core/provider'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { afterAll, expect, test } from 'vitest'

const sampler = new TestSampler()
const files = new InMemoryFileSystem({ versionPrefix: 'v' })
const shell = justBashShell().open({ files, clock: systemClock, logger: noopLogger })
afterAll(() => shell.close())

const LINES = [
  '',
  ' ',
  'a',
  'foo bar baz',
  'foo.bar',
  'foofoo',
  'aaa  bbb\tccc',
  '  lead',
  'trail  ',
  'a,b,c,,d',
  'x:y:z',
  'FOO Bar',
  'été naïve ü',
  'a/b/c',
  '10 20 30',
  'end\r',
  'a\tb\tc',
  '-dash',
  'b*c[d]^$',
  'x'.repeat(700),
]
const PATTERNS = [
  'a',
  'foo',
  'foo.bar',
  'fo*',
  'o+',
  'fo?b',
  '^a',
  'c$',
  '^$',
  '[a-c]',
  '[^a]',
  'b.r',
  'foo|bar',
  'a.*c',
  'é',
  String.raw`foo\.bar`,
  'FOO',
  '.',
  'x',
  String.raw`b\*c`,
  '^foo bar baz$',
  'o*',
  'b$|^f',
  ',',
]

function commandOf(random: () => number): string[] {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const some = <T>(values: readonly T[]): T[] => values.filter(() => random() < 0.2)
  const sets = [
    'a-z',
    'A-Z',
    'abc',
    '[:upper:]',
    '[:lower:]',
    String.raw`\n`,
    ' ',
    String.raw`\t `,
    '0-9',
    'xyz',
    '[:space:]',
    'o',
    String.raw`\015`,
    'a-',
    '[:punct:]',
  ]
  const commands: readonly (() => string[])[] = [
    () => ['grep', ...some(['-i', '-v', '-n', '-c', '-E', '-x', '-q']), pick(PATTERNS)],
    () => ['grep', '-E', pick(PATTERNS)],
    () => [
      'cut',
      `-d${pick([' ', ',', ':', '/'])}`,
      `-f${pick(['1', '2', '1,3', '2-', '-2', '3-4,1', '9'])}`,
      ...some(['-s']),
    ],
    () => ['cut', '-c', pick(['1', '2-4', '3-', '-2', '1,3,2'])],
    () => ['cut', `-f${pick(['1', '2', '1,3'])}`],
    () => ['tr', ...some(['-s']), pick(sets), pick(sets.filter((set) => !set.includes(':')))],
    () => [
      'tr',
      ...pick([
        ['[:upper:]', '[:lower:]'],
        ['[:lower:]', '[:upper:]'],
      ]),
    ],
    () => ['tr', ...pick([['-d'], ['-s'], ['-cd'], ['-d', '-c']]), pick(sets)],
    () => [
      'sed',
      `s/${pick(PATTERNS.filter((pattern) => pattern !== 'o*')).replaceAll('/', String.raw`\/`)}/${pick(['', 'X', 'longer text', 'é', '$1'])}/${pick(['', 'g'])}`,
    ],
    () => ['sed', '-E', `s|${pick(['a', 'fo+', '[a-c]', '^a', 'x$', 'b.'])}|Y|${pick(['', 'g'])}`],
    () => ['awk', `{print ${pick(['$1', '$2', '$NF', '$0', '$1, $3', '$9', '$2,$1'])}}`],
    () => [
      'awk',
      `-F${pick([',', ':', '/', String.raw`\t`])}`,
      `{ print ${pick(['$1', '$2', '$NF', '$1,$3'])} }`,
    ],
  ]
  return pick(commands)()
}

const count = sampler.size(2000, 150)
test(`${count} random filters`, { timeout: 120_000 }, async () => {
  const random = sampler.random('filters')
  const differences: unknown[] = []
  for (let i = 0; i < count; i += 1) {
    const command = commandOf(random)
    const lines = LINES.filter(() => random() < 0.4)
    const isAscii = random() < 0.7
    const text = lines.filter((line) => !isAscii || !line.includes('é')).join('\n')
    const input = random() < 0.8 && text !== '' ? `${text}\n` : text
    await files.writeFile('/in', input)
    const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' }
    const [program = '', ...args] = command
    const wanted = spawnSync(program, args, { input: Buffer.from(input), env, encoding: 'latin1' })
    const line = command.map(quoteWord).join(' ')
    const { stdout, exitCode } = await shell.run(`${line} < in`)
    const given = Buffer.from(stdout).toString('latin1')
    if (given !== wanted.stdout || (exitCode !== 0) !== (wanted.status !== 0)) {
      differences.push({
        line,
        input,
        given,
        wanted: wanted.stdout,
        codes: [exitCode, wanted.status],
      })
    }
  }
  expect(differences).toEqual([])
})
