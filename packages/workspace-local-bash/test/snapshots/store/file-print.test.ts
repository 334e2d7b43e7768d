import { describe, expect, it } from 'vitest'
import { isPrintOf, linesIn, printOf } from '../../../src/snapshots/store/file-print.ts'
import { turnsDuring } from '../../slow-machine.ts'

const PART_BYTES = 64 * 1024
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const parts = ['one\n', 'two\n', 'three'].map(bytes)

describe('a print', () => {
  it('has the length and the hash of each part, once', async () => {
    const print = await printOf(parts)
    expect(print.map(({ length }) => length)).toEqual([4, 4, 5])
    expect(new Set(print.map(({ hash }) => hash)).size).toBe(3)
    const again = await printOf([...parts].toReversed())
    expect(again.toReversed().every((part, index) => part === print[index])).toBe(true)
  })
  it('is that of its bytes, and of no others', async () => {
    const print = await printOf(parts)
    const isOf = (text: string): Promise<boolean> => isPrintOf(print, Buffer.from(text))
    expect(await isOf('one\ntwo\nthree')).toBe(true)
    for (const other of [
      'one\ntwo\nthreE',
      'one\ntwo\nthree+',
      'one\ntwo\nthre',
      'two\none\nthree',
      '',
    ]) {
      expect(await isOf(other)).toBe(false)
    }
    expect(await isPrintOf([], Buffer.alloc(0))).toBe(true)
    expect(await isPrintOf([], Buffer.from('x'))).toBe(false)
  })
  it('is known by hashes when the bytes are forgotten', async () => {
    const print = (await printOf([bytes('one')])).map(({ length, hash }) => ({
      length,
      hash,
      bytes: { deref: () => undefined } as unknown as WeakRef<Uint8Array>,
    }))
    expect([
      await isPrintOf(print, Buffer.from('one')),
      await isPrintOf(print, Buffer.from('onE')),
    ]).toEqual([true, false])
  })
  it('leaves other work its turns', async () => {
    const many = Array.from({ length: 20 }, (_, n) => bytes(`part ${n}`))
    expect(await turnsDuring(() => printOf(many))).toBeGreaterThanOrEqual(20)
    const print = await printOf(many)
    const whole = Buffer.concat(many)
    expect(await turnsDuring(() => isPrintOf(print, whole))).toBeGreaterThanOrEqual(20)
  })
})

it('a text is cut behind the first line end after 64 KiB', () => {
  const line = `${'x'.repeat(9)}\n`
  const text = bytes(line.repeat(14_000))
  const cut = linesIn(text)
  expect(cut.map(({ length }) => length)).toEqual([65_540, 65_540, 8920])
  expect(Buffer.concat(cut).equals(Buffer.from(text))).toBe(true)
  expect(linesIn(bytes(''))).toEqual([])
  expect(linesIn(bytes(`${'x'.repeat(PART_BYTES)}\ny`)).map(({ length }) => length)).toEqual([
    PART_BYTES + 1,
    1,
  ])
  expect(linesIn(bytes(`${'x'.repeat(PART_BYTES - 1)}\ny`))).toHaveLength(1)
})
