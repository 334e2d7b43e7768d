import { expect, test } from 'vitest'
import { applyEdit, type TextEdit } from '../../../../src/modules/fs/edit/edit.ts'
import { fileDiff } from '../../../../src/modules/fs/edit/file-diff.ts'
import { eachPlace, replaceEachPlace } from '../../../../src/modules/fs/edit/literal-search.ts'
import { describeNearest } from '../../../../src/modules/fs/edit/nearest-lines.ts'
import { createWorkTurn, type WorkTurn } from '../../../../src/modules/fs/edit/work-turn.ts'
import { globDirectories } from '../../../../src/modules/fs/search/glob-directories.ts'
import {
  countLineFeedsInTurns,
  toLineEndsInTurns,
} from '../../../../src/modules/fs/text/line-endings.ts'
import { givingWay } from '../../../time/giving-way.ts'
import { MapFileSystem } from '../map-file-system.ts'

/** Characters that are searched or counted in one stretch. */
const WINDOW = 65_536

const pausesOf = async (work: (turn: WorkTurn) => Promise<unknown>): Promise<number> =>
  (await givingWay(() => work(createWorkTurn()))).pauses

const editOf = (text: string, edit: TextEdit) => (turn: WorkTurn) =>
  applyEdit({ path: '/f', text, maxCharacters: 1_000_000, turn }, edit)

async function places(text: string, wanted: string): Promise<readonly [number[], number]> {
  const { result, pauses } = await givingWay(async () => {
    const found: number[] = []
    await eachPlace(text, wanted, createWorkTurn(), (place) => void found.push(place))
    return found
  })
  return [result, pauses]
}

test('a search gives way after each window, and after each 64 places', async () => {
  expect(await places('-'.repeat(3 * WINDOW), 'x')).toEqual([[], 3])
  const long = 'x'.repeat(201)
  expect(await places(`${'-'.repeat(2 * WINDOW)}${long}`, long)).toEqual([[2 * WINDOW], 3])
  const [found, pauses] = await places('x'.repeat(128), 'x')
  expect([found.length, pauses]).toEqual([128, 2])
})

test('a replacement gives way after each window', async () => {
  const text = 'ab'.repeat(WINDOW)
  const edit = { oldText: 'a', newText: '' }
  expect(await pausesOf((turn) => replaceEachPlace(text, edit, turn))).toBe(2)
})

test('line ends are counted and changed a window at a time', async () => {
  const text = '\n'.repeat(WINDOW + 1)
  expect(await pausesOf((turn) => countLineFeedsInTurns(text, 0, text.length, turn))).toBe(2)
  expect(await pausesOf((turn) => toLineEndsInTurns(text.slice(0, 8193), '\r\n', turn))).toBe(2)
})

test('an edit gives way in each of its steps', async () => {
  expect(await pausesOf(editOf('one\ntwo\n', { oldText: 'two', newText: '2' }))).toBe(11)
  const all = { oldText: 'a', newText: 'b', replaceAll: true }
  expect(await pausesOf(editOf('a'.repeat(1001), all))).toBe(24)
})

test('the nearest lines are looked for a line at a time', async () => {
  const text = 'one\ntwo\nthree\n'
  expect(await pausesOf((turn) => describeNearest(text, ' two', turn))).toBe(4)
  expect(await pausesOf((turn) => describeNearest(text, 'threa', turn))).toBe(6)
})

test('a diff of two files gives way before it starts, and after each part that is the same', async () => {
  const sides = { from: '/a', to: '/a', before: 'same\nold\nend', after: 'same\nnew\nend' }
  expect(await pausesOf((turn) => fileDiff(sides, turn))).toBe(4)
  const large = { from: '/a', to: '/a', before: 'a\n'.repeat(35_000), after: 'b\n'.repeat(35_000) }
  expect(await pausesOf((turn) => fileDiff(large, turn))).toBe(6)
})

test('directories are taken from 64 files at a time', async () => {
  const fs = new MapFileSystem()
  for (let n = 0; n < 129; n += 1) await fs.writeFile(`/d${n}/f`, '')
  const pauses = await pausesOf((turn) => globDirectories(fs, '*/', { path: '/', turn }))
  expect(pauses).toBe(3)
})
