import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RepositoryCopy } from './repository-copy.ts'

let root: string
let copy: RepositoryCopy

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'helix-copied-'))
  for (const folder of ['node_modules/.pnpm/z', 'packages/a/node_modules', 'packages/b']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  symlinkSync('.pnpm/z', join(root, 'node_modules/z'))
  symlinkSync('../../b', join(root, 'packages/a/node_modules/b'))
  write('.gitignore', 'node_modules\nignored.ts\n')
  for (const name of ['tracked.ts', 'deleted.ts']) write(name, 'as committed')
  execFileSync('git', ['init', '-q'], { cwd: root })
  execFileSync('git', ['add', '.'], { cwd: root })
  write('tracked.ts', 'as edited')
  write('new.ts', 'new')
  write('ignored.ts', 'ignored')
  rmSync(join(root, 'deleted.ts'))
  copy = new RepositoryCopy(root)
})

afterEach(() => {
  copy.remove()
  rmSync(root, { recursive: true })
})

function write(name: string, text: string): void {
  writeFileSync(join(root, name), text)
}

function textOf(folder: string): string {
  return readFileSync(join(folder, 'tracked.ts'), 'utf8')
}

test('the copy has the files as they are now', () => {
  expect(textOf(copy.folder)).toBe('as edited')
  expect(existsSync(join(copy.folder, 'new.ts'))).toBe(true)
  expect(existsSync(join(copy.folder, 'ignored.ts'))).toBe(false)
  expect(existsSync(join(copy.folder, 'deleted.ts'))).toBe(false)
})

test('a package of the copy imports packages of the copy, and the dependencies of the root', () => {
  const inside = realpathSync(copy.folder)
  mkdirSync(join(copy.folder, 'packages/b'), { recursive: true })
  expect(realpathSync(join(inside, 'packages/a/node_modules/b'))).toBe(join(inside, 'packages/b'))
  const installed = realpathSync(join(root, 'node_modules/.pnpm/z'))
  expect(realpathSync(join(copy.folder, 'node_modules/z'))).toBe(installed)
})

test('what is written is in the copy alone, until it is restored', () => {
  copy.write('tracked.ts', 'mutant')
  copy.write('tracked.ts', 'another mutant')
  copy.write('added.ts', 'added')
  expect([textOf(copy.folder), textOf(root)]).toEqual(['another mutant', 'as edited'])
  expect(existsSync(join(root, 'added.ts'))).toBe(false)
  copy.restore()
  expect(textOf(copy.folder)).toBe('as edited')
  expect(existsSync(join(copy.folder, 'added.ts'))).toBe(false)
})

test('removing the copy leaves the repository', () => {
  copy.remove()
  expect(existsSync(copy.folder)).toBe(false)
  expect(textOf(root)).toBe('as edited')
  expect(existsSync(join(root, 'node_modules/.pnpm/z'))).toBe(true)
})
