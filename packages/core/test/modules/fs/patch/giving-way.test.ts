import { expect, test } from 'vitest'
import { createWorkTurn } from '../../../../src/modules/fs/edit/work-turn.ts'
import { indexLines } from '../../../../src/modules/fs/patch/file-lines.ts'
import { HunkSearch } from '../../../../src/modules/fs/patch/hunk-search.ts'
import { parsePatch } from '../../../../src/modules/fs/patch/parse-patch.ts'
import { findScopes } from '../../../../src/modules/fs/patch/scopes.ts'
import { givingWay } from '../../../time/giving-way.ts'
import { ToolBench } from '../tool-bench.ts'

/** Lines that are looked through for a hunk in one stretch. */
const WINDOW = 65_536

const hunkOf = (...lines: readonly string[]) => {
  const [section] = parsePatch(['--- a/f', '+++ b/f', ...lines, ''].join('\n')).sections
  return section!.hunks[0]!
}

const fileOf = async (text: string) => {
  const turn = createWorkTurn()
  return { path: '/f', turn, lines: await indexLines(text, false, turn) }
}

test('lines are indexed 1,024 at a time', async () => {
  const text = 'x\n'.repeat(2049)
  const { result, pauses } = await givingWay(async () => (await fileOf(text)).lines.count)
  expect([result, pauses]).toEqual([2049, 3])
})

test('lines are numbered 256 at a time, and looked through a window at a time', async () => {
  const text = `${'-\n'.repeat(WINDOW)}x\n`
  const file = await fileOf(text)
  const hunk = hunkOf('@@', '-x', '+y')
  const { result, pauses } = await givingWay(() =>
    new HunkSearch(file.lines, [hunk], createWorkTurn()).places(hunk),
  )
  expect([result, pauses]).toEqual([[WINDOW], WINDOW / 256 + 1 + 2])
})

test('the lines of a scope, and those below it, are read 256 at a time', async () => {
  const file = await fileOf(`A:\n${'  x\n'.repeat(600)}`)
  const [hunk] = parsePatch('*** Update File: f\n@@ A:\n-  x\n+  y\n').sections[0]!.hunks
  const { result, pauses } = await givingWay(() =>
    findScopes(
      { ...file, turn: createWorkTurn() },
      new HunkSearch(file.lines, [], file.turn),
      hunk!,
    ),
  )
  expect([result, pauses]).toEqual([[{ first: 0, last: 600 }], 5])
})

test('a patch gives way for each hunk, and for each file', async () => {
  const patch = ['--- a/f', '+++ b/f', '@@ -1 +1 @@', '-a', '+b', ''].join('\n')
  const { pauses } = await givingWay(async () => {
    const bench = new ToolBench({ extended: true })
    await bench.fs.writeFile('/f', 'a\n')
    await bench.call('apply_patch', { patch })
    return bench.fs.all()
  })
  expect(pauses).toBe(3)
})
