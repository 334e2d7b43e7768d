import { expect, test } from 'vitest'
import { parsePatch } from '../../../../src/modules/fs/patch/parse-patch.ts'

const newFile = (name: string) => `--- /dev/null\n+++ ${name}\n@@ -0,0 +1 @@\n+x\n`
const nameOf = (name: string) => parsePatch(newFile(name)).sections[0]?.to

test('quoted names are read as git writes them', () => {
  expect(nameOf('"b/q\\"t\\t\\\\n\\r\\n\\z"')).toBe('b/q"t\t\\n\r\nz')
  expect(nameOf('"b/\\303\\274"')).toBe('b/ü')
  expect(nameOf('"b/\uFFFD"')).toBe('b/\uFFFD')
  expect(nameOf('"b/open')).toBe('"b/open')
  expect(() => nameOf('"b/\\377"')).toThrow('the name "b/\\377" is not UTF-8; nothing was changed')
  const long = `b/${'x'.repeat(5 * 4096 - 5)}`
  expect(nameOf(`"${long}\\t"`)).toBe(`${long}\\t`)
  expect(nameOf(`"${long.slice(1)}\\t"`)).toBe(`${long.slice(1)}\t`)
})

test('a time behind a name is no part of it', () => {
  expect(nameOf('b/f\t2024-01-01')).toBe('b/f')
  expect(nameOf('b/f 2024-01-01 10:00:00 +0000')).toBe('b/f')
  expect(nameOf('b/f 2024-01-01')).toBe('b/f 2024-01-01')
})

test('what a section says', () => {
  const [section] = parsePatch(newFile('b/f')).sections
  expect(section).toEqual({
    at: 1,
    kind: 'create',
    to: 'b/f',
    hunks: [
      {
        number: 1,
        at: 3,
        oldStart: 0,
        isInsertion: true,
        isRecounted: false,
        scopes: [],
        isAtEnd: false,
        lines: [{ sign: '+', text: 'x', hasReturn: false, isOpen: false }],
      },
    ],
    removesAll: false,
    notes: [],
  })
})

test.each([
  ['--- a/f\n+++ b/f\n@@\n-x\n', true],
  ['--- f\n+++ f\n@@\n-x\n', false],
  ['--- a/f\n+++ a/f\n@@\n-x\n', undefined],
  ['--- i/f\n+++ w/f\n@@\n-x\n', true],
  ['--- a/f\n+++ c/f\n@@\n-x\n', true],
  ['--- b/f\n+++ a/f\n@@\n-x\n', false],
  ['--- a/f\n+++ /dev/null\n@@\n-x\n', undefined],
  ['--- f\n+++ /dev/null\n@@\n-x\n', false],
  ['diff --git a/f b/f\n--- a/f\n+++ b/f\n@@\n-x\n', true],
  ['diff --git a/f a/f\n--- a/f\n+++ a/f\n@@\n-x\n', false],
  ['diff --git a/f b/f\nrename from f\nrename to g\n', false],
])('whether the names of %j have the prefixes of git: %s', (patch, hasPrefixes) => {
  expect(parsePatch(patch).sections[0]?.hasPrefixes).toBe(hasPrefixes)
})

const files = (count: number) => newFile('b/f').repeat(count)
const hunks = (count: number) => `--- a/f\n+++ b/f\n${'@@\n-x\n'.repeat(count)}`
const lines = (count: number) => `--- a/f\n+++ b/f\n@@\n${'-x\n'.repeat(count - 3)}`

test('a patch has at most 200 files, 2,000 hunks and 50,000 lines', () => {
  expect(parsePatch(files(200)).sections).toHaveLength(200)
  expect(() => parsePatch(files(201))).toThrow('the patch has more than 200 files or 2000 hunks')
  expect(parsePatch(hunks(2000)).sections[0]?.hunks).toHaveLength(2000)
  expect(() => parsePatch(hunks(2001))).toThrow('the patch has more than 200 files or 2000 hunks')
  expect(parsePatch(lines(50_000)).sections[0]?.hunks[0]?.lines).toHaveLength(49_997)
  expect(() => parsePatch(lines(50_001))).toThrow('the patch has more than 50000 lines')
})
