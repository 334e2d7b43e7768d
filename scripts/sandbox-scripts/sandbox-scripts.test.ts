import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { SCRIPTS } from '../../packages/workspace-cloudflare-sandbox/src/driver/script/scripts.generated.ts'
import { read } from '../repository.ts'
import { readScripts, scriptFiles } from './main.ts'

test('the scripts in the sandbox provider are those in its folder', () => {
  expect(SCRIPTS, 'run `pnpm sandbox:gen`').toEqual(readScripts())
})

/** What is wrong in a line of a script, where a name or a value may be hostile. */
const RULES: readonly (readonly [rule: string, pattern: RegExp])[] = [
  ['no `[`, which is a command with words', /(?:^|[;&|({]\s*|\bif\s+|\bwhile\s+)\[\s/],
  ['no backticks', /`/],
  ['no tabs', /\t/],
  [
    '`--` before the paths of a command',
    /\b(?:rm|mv|cp|mkdir|rmdir|ln|cat|chmod|mkfifo|tail)\s+(?!.*--\s)[^|<>()]*"\$/,
  ],
  [
    'names of programs and paths are quoted',
    /\b(?:rm|mv|cp|mkdir|rmdir|ln|cat|cd|stat|find|tail|head)\b[^"'#|;]*\s\$\w/,
  ],
  ['nothing is evaluated but our own functions', /\beval\s+(?!"\$(?:F|hx_tree)")/],
]

describe.each(scriptFiles())('%s', (file) => {
  const text = read(file)
  const code = text.split('\n').filter((line) => !line.trim().startsWith('#'))

  test('says what it does, and what it takes', () => {
    expect(text).toMatch(/^# [A-Z`]/)
  })

  test('is bash', () => {
    expect(execFileSync('bash', ['-n'], { input: text, encoding: 'utf8' })).toBe('')
  })

  test.each(RULES)('%s', (_, pattern) => {
    expect(code.filter((line) => pattern.test(line))).toEqual([])
  })
})
