import type { SnapshotEntry } from '@helix-agents/core/provider'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockNames } from '../../../src/snapshots/store/block-names.ts'
import {
  type FilePrint,
  isPrintOf,
  linesIn,
  printOf,
} from '../../../src/snapshots/store/file-print.ts'
import { KnownManifests } from '../../../src/snapshots/store/known-manifests.ts'
import { manifestOf } from './store-fixture.ts'

const bytes = (text: string): Buffer => Buffer.from(text)
const { header } = await manifestOf('snapshot-of-a-test')
const ENTRY: SnapshotEntry = { path: '/d', type: 'directory' }

const PART: FilePrint[number] = { length: 0, hash: '', bytes: new WeakRef(bytes('')) }
const printOfLength = (length: number): FilePrint => Array.from({ length }, () => PART)

const known = (entries: number, parts = 0) => ({
  manifest: { header, entries: Array.from({ length: entries }, () => ENTRY) },
  print: printOfLength(parts),
})

describe('manifests that are remembered', () => {
  it('hold 100,000 entries together: those that were asked for last', () => {
    const all = new KnownManifests()
    const [a, b, c, d] = [known(60_000), known(30_000), known(10_000), known(1)]
    all.add('a', a)
    all.add('b', b)
    all.add('c', c)
    expect(['a', 'b', 'c'].map((path) => all.get(path))).toEqual([a, b, c])
    all.get('a')
    all.add('d', d)
    expect(['a', 'b', 'c', 'd'].map((path) => all.get(path))).toEqual([a, undefined, c, d])
    all.add('e', b)
    expect(all.get('a')).toBe(undefined)
    expect([all.get('c'), all.get('d'), all.get('e')]).toEqual([c, d, b])
  })
  it('hold the newest, whatever its size, and once', () => {
    const all = new KnownManifests()
    const [small, large] = [known(1), known(200_000)]
    all.add('small', small)
    all.add('large', large)
    expect([all.get('small'), all.get('large')]).toEqual([undefined, large])
    all.add('large', known(60_000))
    all.add('large', known(60_000))
    all.add('small', small)
    expect(all.get('large')).toBeDefined()
    all.delete('large')
    all.add('other', known(99_999))
    expect([all.get('large'), all.get('small')]).toEqual([undefined, small])
  })
  it('keep their prints when they go, as long as these have 200,000 parts together', () => {
    const all = new KnownManifests()
    const [first, second] = [known(100_000, 100_000), known(100_000, 99_999)]
    all.add('first', first)
    all.add('second', second)
    expect(all.get('first')).toBeUndefined()
    expect([all.soundPrint('first'), all.soundPrint('second')]).toEqual([first.print, second.print])
    all.addSound('third', printOfLength(1))
    expect(all.soundPrint('first')).toBe(first.print)
    all.addSound('third', printOfLength(1))
    expect(all.soundPrint('first')).toBe(first.print)
    all.addSound('fourth', printOfLength(1))
    expect(['first', 'second', 'third'].map((path) => all.soundPrint(path))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(all.soundPrint('fourth')).toHaveLength(1)
    all.addSound('fifth', printOfLength(199_999))
    expect(all.soundPrint('fourth')).toHaveLength(1)
    all.delete('fourth')
    expect(all.soundPrint('fourth')).toBeUndefined()
    all.addSound('sixth', printOfLength(1))
    expect(all.soundPrint('fifth')).toHaveLength(199_999)
  })
})

describe('the print of a file', () => {
  const parts = [bytes('one\n'), bytes('two\n')]

  it('is that of these bytes and no others', async () => {
    const print = await printOf(parts)
    expect(print.map(({ length }) => length)).toEqual([4, 4])
    for (const [text, expected] of [
      ['one\ntwo\n', true],
      ['one\ntwO\n', false],
      ['oNe\ntwo\n', false],
      ['one\ntwo\n+', false],
      ['one\n', false],
      ['one\ntwo', false],
      ['', false],
    ] as const) {
      expect([text, await isPrintOf(print, bytes(text))]).toEqual([text, expected])
    }
  })
  it('is compared by hashes once the bytes are forgotten', async () => {
    const forgotten = (await printOf(parts)).map((part) => ({
      ...part,
      bytes: Object.assign(new WeakRef(part), { deref: () => undefined }),
    })) as unknown as FilePrint
    expect(await isPrintOf(forgotten, bytes('one\ntwo\n'))).toBe(true)
    expect(await isPrintOf(forgotten, bytes('one\ntwO\n'))).toBe(false)
  })
  it('is made once of each part', async () => {
    const [first] = await printOf(parts)
    expect((await printOf([...parts]))[0]).toBe(first)
    expect((await printOf([bytes('one\n')]))[0]?.hash).toBe(first?.hash)
  })
  it('has parts of whole lines of 64 KiB or more', () => {
    const line = fc.integer({ min: 0, max: 30_000 })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.boolean(), (lengths, isCut) => {
        const text = lengths.map((length) => `${'x'.repeat(length)}\n`).join('')
        const all = bytes(isCut ? `${text}x` : text)
        const found = linesIn(all)
        expect(Buffer.concat(found).equals(all)).toBe(true)
        for (const part of found.slice(0, -1)) {
          expect(part.at(-1)).toBe(10)
          expect(part.indexOf(10, 64 * 1024)).toBe(part.length - 1)
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('the names of blocks', () => {
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]

  it('are hashes in quotes', async () => {
    const names = new BlockNames()
    const text = bytes(`{"blocks":["${a}","${'c'.repeat(63)}"]}\n{"path":"x${b}"}\n`)
    await names.add(text, await printOf([text]))
    expect([names.has(a), names.has(b), names.has('c'.repeat(63))]).toEqual([true, false, false])
  })
  it('are searched in every part, and once in those that several files share', async () => {
    const names = new BlockNames()
    const [one, two] = [bytes(`"${a}"\n`), bytes(`"${b}"\n`)]
    const print = await printOf([one, two])
    await names.add(Buffer.concat([one, two]), print)
    expect([names.has(a), names.has(b)]).toEqual([true, true])
    const other = bytes(`"${'c'.repeat(64)}"\n`)
    await names.add(Buffer.concat([one, other]), print)
    expect(names.has('c'.repeat(64))).toBe(false)
  })
})
