import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readVerified } from '../../../src/snapshots/read-ahead/read-verified.ts'
import { useDirectory } from '../store/store-fixture.ts'

const directory = useDirectory()
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const pathOf = (hash: string): string => join(directory(), hash.slice(0, 2), hash.slice(2))
function store(text: string, hash = hashOf(text)): string {
  mkdirSync(join(pathOf(hash), '..'), { recursive: true })
  writeFileSync(pathOf(hash), text)
  return hash
}
const read = (hashes: readonly string[], lengths: readonly number[]): string | undefined => {
  const bytes = readVerified({ directory: directory(), hashes, lengths })
  return bytes && Buffer.from(bytes).toString()
}

describe('blocks that are read ahead', () => {
  it('are one behind the other', () => {
    const hashes = ['first', 'second', ''].map((text) => store(text))
    expect(read(hashes, [5, 6, 0])).toBe('firstsecond')
    expect(read([], [])).toBe('')
  })
  it.each([
    ['damaged', () => store('other', hashOf('text'))],
    ['shorter', () => store('tex', hashOf('text'))],
    ['longer', () => store('text+', hashOf('text'))],
    ['missing', () => store('another')],
    ['a directory', () => mkdirSync(pathOf(hashOf('text')), { recursive: true })],
    [
      'a link',
      () => {
        store('text')
        renameSync(pathOf(hashOf('text')), join(directory(), 'aside'))
        symlinkSync(join(directory(), 'aside'), pathOf(hashOf('text')))
      },
    ],
  ])('are none when one of them is %s', (what, prepare) => {
    store('first')
    prepare()
    const hashes = [hashOf('first'), hashOf('text')]
    // Of a longer one no more is read than the files say.
    expect(read(hashes, [5, 4])).toBe(what === 'longer' ? 'firsttext' : undefined)
    expect(read([hashOf('first')], [5])).toBe('first')
  })
  it.each([4, 6, 0])('are none when one has another length than %d', (length) => {
    expect(read([store('first')], [length])).toBeUndefined()
  })
  it('are none of what is no hash', () => {
    store('text')
    for (const hash of [`../${hashOf('text').slice(3)}`, `${hashOf('text')}\n`, '']) {
      expect(read([hash], [4])).toBeUndefined()
    }
    expect(readFileSync(pathOf(hashOf('text')), 'utf8')).toBe('text')
  })
})
