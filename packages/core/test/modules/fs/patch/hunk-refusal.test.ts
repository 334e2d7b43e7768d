// What a hunk that cannot be applied is told: where, what the file has there, and what to send instead.
import { expect, test } from 'vitest'
import { createWorkTurn } from '../../../../src/modules/fs/edit/work-turn.ts'
import { indexLines } from '../../../../src/modules/fs/patch/file-lines.ts'
import {
  ambiguousPlace,
  misfit,
  noPlace,
  overlap,
  scopeMissing,
  tooManyScopes,
  wrongFileEnd,
} from '../../../../src/modules/fs/patch/hunk-refusal.ts'
import type { PatchHunk } from '../../../../src/modules/fs/patch/patch-model.ts'

const fileOf = async (text: string) => {
  const turn = createWorkTurn()
  return { path: '/f', lines: await indexLines(text, false, turn), turn }
}

const hunkOf = (lines: readonly string[], more: Partial<PatchHunk> = {}): PatchHunk => ({
  number: 2,
  at: 7,
  isInsertion: false,
  isRecounted: false,
  scopes: [],
  isAtEnd: false,
  lines: lines.map((line) => ({
    sign: line[0] as ' ',
    text: line.slice(1),
    hasReturn: false,
    isOpen: false,
  })),
  ...more,
})

const NAME = 'hunk 2 of "/f" (line 7 of the patch)'
const AS_IT_IS = 'Send the whole patch again with the lines as the file has them.'
const failed = (detail: string, hint: string) => ({
  code: 'patch-failed',
  message: expect.stringContaining(`${detail}; nothing was changed`),
  hint,
})

test('the nearest lines are shown from two lines above the first difference, eight of each side', async () => {
  const file = await fileOf(
    `top\n${Array.from({ length: 12 }, (_, n) => `line ${n}\n`).join('')}bottom\n`,
  )
  const lines = Array.from({ length: 11 }, (_, n) => ` line ${n === 3 ? 'three' : n}`)
  const shown = [3, 4, 5, 6, 7, 8, 9, 10]
  expect(await misfit(file, hunkOf(lines), undefined)).toMatchObject(
    failed(
      `${NAME} does not fit the file`,
      [
        'The nearest lines of the file (· is a blank, → a tab):',
        ...shown.map((number) => `  line ${number}: line·${number - 2}`),
        'The patch has there:',
        ...shown.map((number) => `  line·${number === 5 ? 'three' : number - 2}`),
        'First difference: line 5, column 6: the file has "3", the patch has "three".',
        AS_IT_IS,
      ].join('\n'),
    ),
  )
})

test('a first line that differs is shown first, and added lines are not looked for', async () => {
  const file = await fileOf('one two\nthree\n')
  const error = await misfit(file, hunkOf([' one  two', '+new', '-three']), undefined)
  expect(error).toMatchObject({
    hint: [
      'The nearest lines of the file (· is a blank, → a tab):',
      '  line 1: one·two',
      '  line 2: three',
      'The patch has there:',
      '  one··two',
      '  three',
      'Only blanks differ. First difference: line 1, column 5: the file has "two", the patch has a blank (U+0020).',
      AS_IT_IS,
    ].join('\n'),
  })
})

test('of a large file, the lines around the stated one are compared, with their numbers', async () => {
  const file = await fileOf(
    Array.from({ length: 30_000 }, (_, n) => (n === 25_000 ? 'wanted here\n' : '-\n')).join(''),
  )
  const hunk = hunkOf([' wanted there'])
  const near = await misfit(file, hunk, 25_000)
  expect(near).toMatchObject({ hint: expect.stringContaining('  line 25001: wanted·here\n') })
  expect(near).toMatchObject({ hint: expect.stringContaining('First difference: line 25001,') })
  for (const [stated, isFound] of [
    [undefined, false],
    [15_001, true],
    [15_000, false],
    [99_999, true],
  ] as const) {
    const { message } = await misfit(file, hunk, stated)
    expect([stated, message.includes('does not fit the file')]).toEqual([stated, isFound])
  }
})

test('a file that ends within the compared lines is said to end', async () => {
  const hunk = hunkOf([' wanted', ' more'])
  const whole = await misfit(await fileOf(`${'-\n'.repeat(19_999)}wanted\n`), hunk, undefined)
  expect(whole).toMatchObject({ hint: expect.stringContaining('The file ends before line 20001') })
})

test('when no line is like it, the first one with text is named, up to 120 characters', async () => {
  const file = await fileOf('abc\n')
  const long = 'x'.repeat(121)
  expect(await misfit(file, hunkOf([' ', ` ${long}`]), undefined)).toMatchObject(
    failed(
      `${NAME} does not fit: no line of the file is like "${long.slice(1)}"`,
      'Read the file again with read_file, then send the patch with the lines that it has now.',
    ),
  )
  const blank = await misfit(file, hunkOf([' ']), undefined)
  expect(blank.message).toContain('no line of the file is like ""')
})

test.each<readonly [readonly number[], Partial<PatchHunk>, string]>([
  [[0, 4], {}, '1, 5, and it does not say which of them is meant'],
  [[0, 4], { oldStart: 3 }, '1, 5, and its line number 3 does not decide which of them is meant'],
])('several places %j are named: %o', async (places, more, text) => {
  const error = ambiguousPlace(await fileOf('x\n'), hunkOf([' x'], more), places)
  expect(error).toMatchObject(
    failed(
      `${NAME} fits at lines ${text}`,
      'Add lines around the change until they stand at one place only, or give the right line number in the @@ header.',
    ),
  )
})

test('of many places, the first are named', async () => {
  const places = Array.from({ length: 50 }, (_, n) => n)
  const file = await fileOf('x\n')
  const { message } = ambiguousPlace(file, hunkOf([' x']), places)
  const [, named = ''] = /fits at lines (.*), …, and/.exec(message) ?? []
  const most = named.split(', ').length
  expect(named).toBe(
    places
      .slice(0, most)
      .map((place) => place + 1)
      .join(', '),
  )
  expect(ambiguousPlace(file, hunkOf([' x']), places.slice(0, most)).message).not.toContain('…')
})

test('a hunk of which the place is not known, or not so, says what to send', async () => {
  const file = await fileOf('x\n')
  expect(noPlace(file, hunkOf(['+x']), [])).toMatchObject(
    failed(
      `${NAME} only adds lines and does not say where`,
      'Add a line or two of the file in front of the new lines or behind them, each with a blank in front.',
    ),
  )
  expect(noPlace(file, hunkOf([' x'], { isAtEnd: true }), [1, 2])).toMatchObject(
    failed(
      `${NAME} does not fit at the end of the file; its lines stand at line 2, 3`,
      'Leave *** End of File out, or send the last lines of the file.',
    ),
  )
  expect(noPlace(file, hunkOf([' x']), [1])).toMatchObject(
    failed(`${NAME} does not fit below the line after @@; its lines stand at line 2`, AS_IT_IS),
  )
})

test('a line after @@ that the file has not is named with the nearest', async () => {
  const file = await fileOf('one\nclass  A {\n')
  const rest =
    '\nWrite such a line as the file has it, or leave it out and add lines around the change.'
  expect(await scopeMissing(file, hunkOf([' x']), 'class A {')).toMatchObject(
    failed(
      `${NAME}: the file has no line "class A {", which stands after @@`,
      `The nearest is line 2: class··A·{${rest}`,
    ),
  )
  const long = 'z'.repeat(121)
  expect(await scopeMissing(file, hunkOf([' x']), long)).toMatchObject(
    failed(
      `${NAME}: the file has no line "${long.slice(1)}", which stands after @@`,
      `Read the file again with read_file.${rest}`,
    ),
  )
})

test('other refusals say what is wrong and what to do', async () => {
  const hunk = hunkOf([' x'], { scopes: ['a', 'b', 'c'] })
  expect(tooManyScopes(await fileOf('x\n'), hunk, 2)).toMatchObject(
    failed(
      `${NAME} has 3 lines after @@, and at most 2 are allowed`,
      'Leave them out and add lines around the change.',
    ),
  )
  expect(overlap('/f', hunk, hunkOf([' y'], { number: 1 }), 4)).toMatchObject(
    failed(
      `${NAME} and hunk 1 both need line 5 of the file`,
      'Make one hunk of the two. All hunks are against the file as it is now, not as the hunk before leaves it.',
    ),
  )
  expect(wrongFileEnd('/f', hunk, 'why')).toMatchObject(
    failed(
      `${NAME}: why`,
      'The line "\\ No newline at end of file" stands only behind the last line of a file that ends without a line end. Leave it out, or put it there.',
    ),
  )
})
