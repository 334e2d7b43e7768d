import { applyPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { fileDiff } from '../../../../src/modules/fs/edit/file-diff.ts'
import { createWorkTurn } from '../../../../src/modules/fs/edit/work-turn.ts'
import { MAX_HOLD_MS, measureHold } from '../event-loop-hold.ts'

const diffOf = (before: string, after: string) =>
  fileDiff({ from: '/a', to: '/a', before, after }, createWorkTurn())

test('shows what changes with three lines around it and true line numbers', async () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`)
  const after = lines.with(19, 'LINE 20')
  const { diff, isCut } = await diffOf(lines.join('\n'), after.join('\n'))
  expect(diff.split('\n')).toEqual([
    '--- a/a',
    '+++ b/a',
    '@@ -17,7 +17,7 @@',
    ' line 17',
    ' line 18',
    ' line 19',
    '-line 20',
    '+LINE 20',
    ' line 21',
    ' line 22',
    ' line 23',
  ])
  expect(isCut).toBe(false)
})

test('a file that comes or goes', async () => {
  const turn = createWorkTurn()
  const created = await fileDiff({ to: '/a', before: '', after: 'one\ntwo' }, turn)
  expect(created.diff).toBe(
    '--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file',
  )
  const removed = await fileDiff({ from: '/a', before: 'one\n', after: '' }, turn)
  expect(removed.diff).toBe('--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one')
})

test('a change of line ends is seen; CRLF on both sides is not', async () => {
  expect((await diffOf('a\r\nb\r\n', 'a\r\nc\r\n')).diff).not.toContain('\r')
  expect((await diffOf('a\r\nb\r\n', 'a\nb\n')).diff).toContain('-a\r\n')
})

test('binary content is named, not shown', async () => {
  const { diff, isCut } = await diffOf('a\0b', 'text')
  expect(diff).toContain('[binary: 3 characters before, 4 after]')
  expect(isCut).toBe(true)
})

const text = fc
  .array(fc.constantFrom('a', 'b', 'same', '', 'x'.repeat(50)), { maxLength: 30 })
  .chain((lines) => fc.constantFrom('\n', '').map((end) => lines.join('\n') + end))

test('what is not cut can be applied and gives the new text', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const { diff, isCut } = await diffOf(before, after)
      expect(isCut).toBe(false)
      expect(before === after ? after : applyPatch(before, `${diff}\n`)).toBe(after)
    }),
    { numRuns: 300 },
  )
})

/** Lines of which each second one is changed, so many of them, and some that are new. */
function edited(changed: number, added: number): Promise<string> {
  const before = Array.from({ length: changed }, (_, n) => `same ${n}\nold ${n}\n`).join('')
  const after = Array.from({ length: changed }, (_, n) => `same ${n}\nnew ${n}\n`).join('')
  return diffOf(before, after + 'more\n'.repeat(added)).then(({ diff }) => diff)
}

/** Whether lines were compared: else all old ones stand in front of all new ones. */
const isCompared = (diff: string): boolean => diff.includes('\n-old 0\n+new 0\n')

describe('a comparison', () => {
  test('is of 500 lines that come or go', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(0)
    expect(isCompared(await edited(250, 0))).toBe(true)
    expect(isCompared(await edited(249, 2))).toBe(true)
    expect(isCompared(await edited(250, 1))).toBe(false)
  })

  test.each([
    [25, true],
    [26, false],
  ])('that takes %i ms is finished: %s', async (ms, expected) => {
    let isFirst = true
    vi.spyOn(Date, 'now').mockImplementation(() => {
      const now = isFirst ? 0 : ms
      isFirst = false
      return now
    })
    expect(isCompared(await edited(3, 0))).toBe(expected)
  })
})

describe('large files', () => {
  const big = Array.from({ length: 200_000 }, (_, index) => `row ${index} of a large file, padded`)
  const before = big.join('\n')

  test('a small change of one costs no more than finding it', async () => {
    const after = big.with(100_000, 'changed').join('\n')
    const { longestMs, result } = await measureHold(() => diffOf(before, after))
    expect(result.diff).toContain('@@ -99998,7 +99998,7 @@')
    expect(result.isCut).toBe(false)
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })

  test('a change of all of it is cut and says so', async () => {
    const after = before.replaceAll('row', 'now')
    const { longestMs, result } = await measureHold(() => diffOf(before, after))
    expect(result.diff.length).toBeLessThanOrEqual(40_000)
    expect(result.isCut).toBe(true)
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })

  test('texts that differ in every line are compared within the time', async () => {
    const old = Array.from({ length: 2000 }, (_, index) => `old ${index}`).join('\n')
    const now = Array.from({ length: 2000 }, (_, index) => `new ${index}`).join('\n')
    const { longestMs, result } = await measureHold(() => diffOf(old, now))
    expect(result.diff).toContain('-old 1999\n')
    expect(result.diff).toContain('+new 0\n')
    expect(longestMs).toBeLessThan(MAX_HOLD_MS)
  })
})
