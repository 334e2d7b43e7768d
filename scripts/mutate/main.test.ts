import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../repository.ts'
import { whyNotConfined } from './tests/confinement.ts'

const folder = mkdtempSync(join(tmpdir(), 'helix-tiny-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A module that a test is the first to load, and another one looks at; both in one process. */
const lateFiles = {
  'packages/late/package.json': '{ "name": "late", "type": "module" }',
  'packages/late/tsconfig.json':
    '{ "compilerOptions": { "strict": true, "module": "nodenext", "types": [] }, "include": ["src"] }',
  'packages/late/src/late.ts': "export const LATE: string = 'late'\n",
  'packages/late/test/conformance.test.ts': `
import { test } from 'vitest'
test('is the first to load it', () => import('../src/late.ts'))
`,
  'packages/late/test/words.test.ts': `
import { expect, test } from 'vitest'
import { LATE } from '../src/late.ts'
test('looks at it', () => expect(LATE).toBe('late'))
`,
  'packages/late/test/far.ts': "export * from '../src/late.ts'",
  ...Object.fromEntries(
    ['one', 'two'].map((name) => [
      `packages/late/test/${name}.test.ts`,
      `
import { test } from 'vitest'
import { LATE } from './far.ts'
test('calls it', () => void LATE)
`,
    ]),
  ),
}

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
  ...lateFiles,
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

/** Runs the command in the folder, on a package of it. */
function mutate(...options: readonly string[]) {
  const confinement = whyNotConfined(folder) === undefined ? [] : ['--unconfined']
  const words = [join(import.meta.dirname, 'main.ts'), ...options, '--count', '100']
  return spawnSync(process.execPath, [...words, '--seconds', '200', ...confinement], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HELIX_ROOT: folder },
  })
}

test('each mutant of a tiny package has its verdict', { timeout: 300_000 }, () => {
  const { stdout, stderr, status } = mutate('tiny', '--seed', '1,2')
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

test('what loading reaches counts for every test, not for the first to load it', () => {
  const { stdout, stderr, status } = mutate('late', '--seed', '1')
  expect(stderr).toBe('')
  expect(stdout).toContain('late: 1 of 1 mutants killed (100 %), seed 1')
  expect(status).toBe(0)
}, 300_000)
