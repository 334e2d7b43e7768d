import { expect, it } from 'vitest'
import {
  type ReadRange,
  readManyScript,
  readScript,
} from '../../../src/driver/script/read-script.ts'
import { SCRIPTS } from '../../../src/driver/script/scripts.generated.ts'
import { assignedBy } from './assigned.ts'

const whole: ReadRange = { offset: 0, inlineBytes: 100_000, isBinary: false }
const given = (range: Partial<ReadRange>): string =>
  assignedBy(readScript("/a'b", { ...whole, ...range }))
const start = String.raw`path='/a'\''b'`

it.each<[string, Partial<ReadRange>, string]>([
  ['a whole file', {}, 'offset=0 length= most= inline=100000 plain=16384'],
  ['one that is no text', { isBinary: true }, 'offset=0 length= most= inline=100000 plain='],
  ['a part', { offset: 3, length: 4 }, 'offset=3 length=4 most= inline=100000 plain='],
  ['its start', { length: 4 }, 'offset=0 length=4 most= inline=100000 plain='],
  ['its end', { offset: 1 }, 'offset=1 length= most= inline=100000 plain='],
  ['a small one', { maxBytes: 9 }, 'offset=0 length= most=9 inline=100000 plain=9'],
  ['one of any size', { maxBytes: Infinity }, 'offset=0 length= most= inline=100000 plain=16384'],
  ['what fits', { inlineBytes: 8, maxBytes: 9 }, 'offset=0 length= most=9 inline=8 plain=8'],
])('%s is read with its bounds', (_, range, expected) => {
  expect(given(range)).toBe(`${start} ${expected}`)
})

it('files are read by the script for one or for several', () => {
  expect(readScript('/a', whole).endsWith(SCRIPTS.read)).toBe(true)
  const many = readManyScript(['/a', '/b c'], 7)
  expect(assignedBy(many)).toBe("left=7 paths=(/a '/b c')")
  expect(many.endsWith(SCRIPTS['read-many'])).toBe(true)
})
