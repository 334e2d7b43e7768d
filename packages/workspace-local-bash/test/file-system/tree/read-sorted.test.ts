import type { Dirent } from 'node:fs'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TimeSlice } from '@helix-agents/core/provider'
import { expect, it } from 'vitest'
import { ANCHOR_NO_LINK } from '../../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../../src/file-system/path/pinned-directory.ts'
import { readSorted, type SortKey } from '../../../src/file-system/tree/read-sorted.ts'
import { useFileSystem } from '../../open-file-system.ts'

const opened = useFileSystem()
const slice: TimeSlice = { due: false, dueAfter: () => false, pause: async () => {} }

async function read(keyOf?: SortKey): Promise<readonly Dirent[]> {
  const directory = PinnedDirectory.open(opened().root, ANCHOR_NO_LINK)
  try {
    return await readSorted(directory, { slice, ...(keyOf !== undefined && { keyOf }) })
  } finally {
    directory.close()
  }
}
const names = async (keyOf?: SortKey): Promise<string[]> =>
  (await read(keyOf)).map(({ name }) => name)

it('children come in the order of code points', async () => {
  // As strings the last two would change places.
  const wanted = ['B', 'a', 'b', 'ä', '\uffff', '\u{10000}']
  for (const name of wanted.toReversed()) writeFileSync(join(opened().root, name), '')
  expect(await names()).toEqual(wanted)
  mkdirSync(join(opened().root, 'c'))
  expect((await read()).map((child) => child.isDirectory())).toEqual(
    ['B', 'a', 'b', 'c', 'ä', '\uffff', '\u{10000}'].map((name) => name === 'c'),
  )
})

it('or in that of their keys', async () => {
  for (const name of ['a1', 'b0', 'c2']) writeFileSync(join(opened().root, name), '')
  expect(await names(({ name }) => name.slice(1))).toEqual(['b0', 'a1', 'c2'])
  expect(await names(() => 'same')).toHaveLength(3)
  expect(await names(({ name }) => (name === 'c2' ? '\uffff' : '\u{10000}'))).toEqual([
    'c2',
    ...(await names()).filter((name) => name !== 'c2'),
  ])
})

it('a child that is in its place already is not sorted again', async () => {
  writeFileSync(join(opened().root, 'a'), '')
  const asked: string[] = []
  await read(({ name }) => {
    asked.push(name)
    return name
  })
  expect(asked).toEqual(['a'])
})
