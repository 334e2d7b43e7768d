import { expect, test } from 'vitest'
import { unifiedHunks } from '../../../../src/modules/fs/edit/unified-hunk.ts'
import { createWorkTurn } from '../../../../src/modules/fs/edit/work-turn.ts'

const hunkOf = (oldText: string, newText: string) =>
  unifiedHunks(
    { text: oldText, first: [0], count: 1, firstLine: 1, turn: createWorkTurn() },
    { oldText, newText },
  )

const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index}\n`).join('')

test.each([
  [60, 60, undefined],
  [61, 60, '-[1 more lines]'],
  [62, 60, '-[2 more lines]'],
])('of %i lines a hunk shows %i of a side', async (count, shown, rest) => {
  const side = (await hunkOf(lines(count), 'new\n')).split('\n').filter((line) => line[0] === '-')
  expect(side.filter((line) => line.startsWith('-line'))).toHaveLength(shown)
  expect(side[shown]).toBe(rest)
})
