import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  countUtf8,
  decodeText,
  isBinary,
  readText,
  toBytes,
  utf8Length,
} from '../../../../src/modules/fs/text/bytes.ts'
import { MapFileSystem } from '../map-file-system.ts'

describe('bytes', () => {
  it('measures UTF-8 as it is encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (a, b) => {
        for (const text of [a, b, `${a}\uD800${b}`, `\uDC00${a}\uD83D`]) {
          const { length } = toBytes(text)
          expect([countUtf8(text), utf8Length(text)]).toEqual([length, length])
        }
      }),
    )
  })

  it('passes bytes through and keeps a byte order mark', () => {
    const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x61])
    expect(toBytes(bytes)).toBe(bytes)
    expect(decodeText(bytes)).toBe('\uFEFFa')
    expect(decodeText(new Uint8Array([0xff]))).toBe('\uFFFD')
  })

  it('tells binary from text by a NUL anywhere', () => {
    expect(isBinary(new Uint8Array())).toBe(false)
    expect(isBinary(new Uint8Array(20_000).fill(97))).toBe(false)
    expect(isBinary(new Uint8Array(20_000).fill(97).fill(0, 19_999))).toBe(true)
  })

  it('reads text with and without readText', async () => {
    const fs = new MapFileSystem()
    await fs.writeFile('/a', '\uFEFFa')
    expect(await readText(fs, '/a')).toBe('\uFEFFa')
    Object.assign(fs, { readText: undefined })
    expect(await readText(fs, '/a')).toBe('\uFEFFa')
  })
})
