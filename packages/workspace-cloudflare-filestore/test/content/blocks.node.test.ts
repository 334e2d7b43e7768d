// What contents are made of: needs no object.
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutBlocks } from '../../src/content/cut-blocks.ts'
import { keepData, toNewData } from '../../src/content/new-data.ts'
import { hashOf, objectKey } from '../../src/objects/object-keys.ts'
import { RetainCounts, sharedStateOf } from '../../src/shared-state.ts'
import { flags } from '../../src/tree/node.ts'
import { PartBuffer } from '../../src/writing/part-buffer.ts'
import { NodeStorage } from '../node-storage.ts'

test('what is retained is counted, and shared by all storages of a database', () => {
  const counts = new RetainCounts()
  counts.retain(7)
  counts.retain(7)
  counts.retain(8)
  expect([counts.has(7), counts.has(9), counts.ids()]).toEqual([true, false, [7, 8]])
  expect([counts.release(7), counts.has(7)]).toEqual([false, true])
  expect([counts.release(7), counts.has(7), counts.ids()]).toEqual([true, false, [8]])
  expect([counts.release(9), counts.has(9)]).toEqual([false, false])
  const storage = new NodeStorage()
  const same: FileStoreStorage = { sql: storage.sql, transactionSync: (work) => work() }
  expect(sharedStateOf(same)).toBe(sharedStateOf(storage))
  expect(sharedStateOf(new NodeStorage())).not.toBe(sharedStateOf(storage))
})

test('an object has a key of its own, by its hash', async () => {
  const hash = await hashOf(Uint8Array.of(97, 98, 99))
  expect(hash).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(objectKey('p/q', 'fs-1', { hash, id: 7 })).toBe(`p/q/fs-1/${hash}.7`)
})

test('data has flags, and memory of its own once it is kept', () => {
  const text = toNewData('ü')
  expect([[...text.bytes], text.flags]).toEqual([[0xc3, 0xbc], flags.text])
  const kept = keepData(text)
  toNewData('xx')
  expect([...kept.bytes]).toEqual([0xc3, 0xbc])
  expect(toNewData('a\0').flags).toBe(flags.text | flags.binary)
  expect(toNewData(Uint8Array.of(1)).flags).toBe(0)
  expect(toNewData(Uint8Array.of(1, 0)).flags).toBe(flags.binary)
  for (const length of [16_384, 16_385]) {
    expect(toNewData('水'.repeat(length)).bytes.length).toBe(3 * length)
  }
})

/** Of the blocks that become of bytes. */
const lengths = (bytes: Uint8Array, isText: boolean): readonly number[] =>
  cutBlocks({ bytes, flags: isText ? flags.text : 0 }).map((piece) => piece.length)

test('blocks are 64 KiB, those of text end between characters', () => {
  const most = 65_536
  expect(lengths(new Uint8Array(), true)).toEqual([])
  expect(lengths(new Uint8Array(most), false)).toEqual([most])
  expect(lengths(new Uint8Array(most + 1), false)).toEqual([most, 1])
  expect(lengths(new Uint8Array(2 * most), true)).toEqual([most, most])
  const encoder = new TextEncoder()
  fc.assert(
    fc.property(fc.nat(4), fc.constantFrom('ü', '水', '\u{1f600}'), (lead, character) => {
      const bytes = encoder.encode('x'.repeat(most - lead) + character.repeat(3))
      const pieces = cutBlocks({ bytes, flags: flags.text })
      const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      expect(pieces.map((piece) => strict.decode(piece)).join('')).toBe(strict.decode(bytes))
      expect(pieces[0]?.length).toBeGreaterThan(most - 4)
      expect(pieces[0]?.length).toBeLessThanOrEqual(most)
    }),
  )
})

test('a part is gathered up to its size', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.uint8Array({ maxLength: 90 }), { maxLength: 9 }),
      (size, pieces) => {
        const buffer = new PartBuffer(size)
        const taken: Uint8Array[] = []
        for (const piece of pieces) {
          for (let at = 0; at < piece.length;) {
            if (buffer.isFull) taken.push(buffer.take())
            at += buffer.add(piece.subarray(at))
          }
        }
        for (const part of taken) expect(part.length).toBe(size)
        const rest = buffer.take()
        expect(rest.length).toBeLessThanOrEqual(size)
        const all = [...taken, rest].flatMap((part) => [...part])
        expect(all).toEqual(pieces.flatMap((piece) => [...piece]))
        expect([buffer.isFull, buffer.take().length]).toEqual([false, 0])
      },
    ),
  )
})
