import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fileDiff } from '../../../../src/modules/fs/edit/file-diff.ts'
import { createWorkTurn } from '../../../../src/modules/fs/edit/work-turn.ts'

const diffOf = (before: string, after: string) =>
  fileDiff({ from: '/a', to: '/a', before, after }, createWorkTurn())

/** Lines of a diff without the two names. */
const hunkOf = (diff: string) => diff.split('\n').slice(2)

/** More characters than are compared line by line. */
const rows = (letter: string, count: number) => `${letter}${'x'.repeat(9)}\n`.repeat(count)

const windows = (text: string) => text.replaceAll('\n', '\r\n')

test('a change that is too large to compare is shown as one, with the lines around it', async () => {
  const around = { above: '1\n2\n3\n4\n', below: '6\n7\n8\n9\n' }
  const before = around.above + rows('a', 6000) + around.below
  const after = around.above + rows('b', 5000) + around.below
  const { diff, isCut } = await diffOf(before, after)
  const lines = hunkOf(diff)
  expect(lines.slice(0, 5)).toEqual(['@@ -2,6006 +2,5006 @@', ' 2', ' 3', ' 4', '-axxxxxxxxx'])
  expect(isCut).toBe(true)
  expect(diff).toContain('\n-[more lines]\n+bxxxxxxxxx\n')
  expect(diff).toHaveLength(40_000)
})

test('a side without lines, or without a last line end, says so', async () => {
  const long = 'x'.repeat(100_001)
  const made = await diffOf('', long)
  expect(hunkOf(made.diff)).toEqual([
    '@@ -0,0 +1,1 @@',
    `+${long.slice(0, 20_000)}`,
    '+[more lines]',
  ])
  const removed = await diffOf(`a\n${long}`, 'a\n')
  expect(hunkOf(removed.diff).slice(0, 2)).toEqual(['@@ -1,2 +1,1 @@', ' a'])
  const open = await diffOf(`a\n${long}\nb`, `a\nc\nb`)
  expect(hunkOf(open.diff).slice(0, 2)).toEqual(['@@ -1,3 +1,3 @@', ' a'])
  expect(hunkOf(open.diff).slice(-4)).toEqual([
    '-[more lines]',
    '+c',
    ' b',
    '\\ No newline at end of file',
  ])
})

test('carriage returns of both sides are left out', async () => {
  const [before, after] = [rows('a', 10_000), rows('b', 10_000)]
  expect((await diffOf(windows(before), windows(after))).diff).not.toContain('\r')
  expect((await diffOf(windows(before), after)).diff).toContain('-axxxxxxxxx\r\n')
  expect((await diffOf(before, windows(after))).diff).toContain('-axxxxxxxxx\n')
})

test('texts that differ in more than 500 lines are shown as one change, which is whole', async () => {
  const old = Array.from({ length: 300 }, (_, index) => `old ${index}`)
  const now = Array.from({ length: 300 }, (_, index) => `new ${index}`)
  const { diff, isCut } = await diffOf(old.join('\n'), now.join('\n'))
  expect(hunkOf(diff)).toEqual([
    '@@ -1,300 +1,300 @@',
    ...old.map((line) => `-${line}`),
    '\\ No newline at end of file',
    ...now.map((line) => `+${line}`),
    '\\ No newline at end of file',
  ])
  expect(isCut).toBe(false)
})

test('a change that is shown as one is cut when a side has more than 20,000 characters', async () => {
  for (const [more, isCut] of [
    ['', false],
    ['x', true],
  ] as const) {
    const after = `${'a line of it\n'.repeat(1538)}${'x'.repeat(5)}${more}\n`
    const made = await diffOf('', after)
    expect([after.length, made.isCut]).toEqual([20_000 + more.length, isCut])
    expect(made.diff.includes('[more lines]')).toBe(isCut)
  }
})

test('a diff of 40,000 characters is whole, one more is cut', async () => {
  const lengthOf = async (count: number) => (await diffOf('', 'x'.repeat(count))).diff.length
  const fixed = (await lengthOf(10_000)) - 10_000
  const whole = await diffOf('', 'x'.repeat(40_000 - fixed))
  expect([whole.diff.length, whole.isCut]).toEqual([40_000, false])
  const cut = await diffOf('', 'x'.repeat(40_001 - fixed))
  expect([cut.diff.length, cut.isCut]).toEqual([40_000, true])
})

test('equal texts have no hunk, and NULs on either side make it binary', async () => {
  expect(await diffOf('same', 'same')).toEqual({ diff: '--- a/a\n+++ b/a', isCut: false })
  expect(await diffOf('a', '\0')).toEqual({
    diff: '--- a/a\n+++ b/a\n[binary: 1 characters before, 1 after]',
    isCut: true,
  })
})

test('the hunk of one change has three lines around it and true numbers, wherever it is', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.nat(11),
      fc.boolean(),
      async (count, at, isOpen) => {
        fc.pre(at < count)
        const lines = Array.from({ length: count }, (_, index) => `line ${index}`)
        const text = (list: readonly string[]) => list.join('\n') + (isOpen ? '' : '\n')
        const { diff } = await diffOf(text(lines), text(lines.with(at, 'changed')))
        const [from, to] = [Math.max(0, at - 3), Math.min(count, at + 4)]
        const head = `@@ -${from + 1},${to - from} +${from + 1},${to - from} @@`
        const open = '\\ No newline at end of file'
        const isLast = isOpen && at === count - 1
        expect(hunkOf(diff)).toEqual([
          head,
          ...lines.slice(from, at).map((line) => ` ${line}`),
          `-line ${at}`,
          ...(isLast ? [open] : []),
          '+changed',
          ...lines.slice(at + 1, to).map((line) => ` ${line}`),
          ...(isOpen && (isLast || to === count) ? [open] : []),
        ])
      },
    ),
  )
})
