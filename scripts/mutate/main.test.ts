import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../repository.ts'
import { whyNotConfined } from './tests/confinement.ts'

const folder = mkdtempSync(join(tmpdir(), 'helix-tiny-'))
afterAll(() => rmSync(folder, { recursive: true }))

const files = {
  '.gitignore': 'node_modules\n',
  'vitest.workspace.ts':
    "export default { test: { include: ['packages/**/*.test.ts'], isolate: false } }",
  'packages/tiny/package.json': '{ "name": "tiny", "type": "module" }',
  'packages/tiny/tsconfig.json':
    '{ "compilerOptions": { "strict": true, "module": "nodenext", "types": [] }, "include": ["src"] }',
  'packages/tiny/src/tiny.ts': `
export const LIMIT = 3
export function isWithin(n: number): boolean {
  return n < LIMIT
}
export function untried(): number {
  return 1
}
`,
  'packages/tiny/src/name.ts': `
export function nameOf(given: boolean): string {
  return given ? 'given' : 'none'
}
`,
  'packages/tiny/test/name.test.ts': `
import { expect, test } from 'vitest'
import { nameOf } from '../src/name.ts'
test('names', () => expect([nameOf(true), nameOf(false)]).toEqual(['given', 'none']))
`,
  'packages/tiny/src/once.ts': `
let known: string | undefined
export function once(): string {
  known ??= [1, 2, 3].join(" ")
  return known
}
`,
  'packages/tiny/test/once.test.ts': `
import { expect, test } from 'vitest'
import { once } from '../src/once.ts'
test('which a process does once', () => expect(once()).toBe('1 2 3'))
`,
  'packages/tiny/test/harmful.test.ts': `
import { test } from 'vitest'
import { isWithin } from '../src/tiny.ts'
test('ends the server of the tests', () => process.kill(process.ppid, isWithin(1) ? 'SIGKILL' : 0))
`,
  'packages/tiny/src/far.ts': `
export function far(): number {
  return 1
}
`,
  'packages/other/package.json': '{ "name": "other", "type": "module" }',
  'packages/other/test/far.test.ts': `
import { expect, test } from 'vitest'
import { far } from '../../tiny/src/far.ts'
test('the only one that looks', () => expect(far()).toBe(1))
`,
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, index) => [
      `packages/tiny/test/far${index}.test.ts`,
      `
import { test } from 'vitest'
import { far } from '../src/far.ts'
test('calls it', () => void far())
`,
    ]),
  ),
  'packages/tiny/test/tiny.test.ts': `
import { expect, test } from 'vitest'
import { isWithin, LIMIT } from '../src/tiny.ts'
test('the limit', () => expect(LIMIT).toBe(3))
test('numbers', () => expect([isWithin(0), isWithin(9)]).toEqual([true, false]))
test('which fails without any mutant', () => expect(isWithin(0)).toBe(false))
`,
}

beforeAll(() => {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  execFileSync('git', ['init', '-q'], { cwd: folder })
})

test('each mutant of a tiny package has its verdict', { timeout: 300_000 }, () => {
  const options = ['tiny', '--count', '100', '--seed', '1,2', '--seconds', '200']
  const confinement = whyNotConfined(folder) === undefined ? [] : ['--unconfined']
  const main = join(import.meta.dirname, 'main.ts')
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [main, ...options, ...confinement],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, HELIX_ROOT: folder } },
  )
  expect(stderr).toBe('')
  const verdicts = stdout
    .split('\n')
    .flatMap((line) => /^tiny: \d+ judged, (.+) at packages\/tiny\/src\/(.+)$/.exec(line) ?? [])
    .filter((part) => !part.startsWith('tiny: '))
  const pairs = Array.from({ length: verdicts.length / 2 }, (_, at) =>
    verdicts.slice(2 * at, 2 * at + 2).join(' '),
  )
  expect(pairs.toSorted()).toEqual([
    // Those of far.ts by the last file of tests alone. The one of line 2 acts while the module loads.
    'killed: change-constant far.ts:3',
    'killed: change-constant name.ts:3',
    'killed: change-constant name.ts:3',
    // Which a process does once, though mutants share it.
    'killed: change-constant once.ts:4',
    'killed: change-constant once.ts:4',
    'killed: change-constant once.ts:4',
    'killed: change-constant tiny.ts:2',
    'killed: invert-condition name.ts:3',
    'killed: invert-condition tiny.ts:4',
    'survived: move-boundary tiny.ts:4',
    'unreached: change-constant tiny.ts:7',
  ])
  expect(stdout).toContain('tiny.test.ts fails without a mutant')
  expect(stdout).toContain('harmful.test.ts is left out')
  expect(stdout).toContain('-  return n < LIMIT\n+  return ((n) <= (LIMIT))')
  for (const seed of [1, 2]) {
    expect(stdout).toContain(
      `tiny: 9 of 11 mutants killed (82 %), seed ${seed}, 1 reached by no test, 6 not counted: they do not compile`,
    )
  }
  expect(status).toBe(1)
})
