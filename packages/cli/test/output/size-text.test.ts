import { expect, it } from 'vitest'
import { toSizeText } from '../../src/output/size-text.ts'

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [10 * 1024 - 1, '10.0 KiB'],
  [10 * 1024, '10 KiB'],
  [1024 ** 2, '1.0 MiB'],
  [1024 ** 3, '1.0 GiB'],
  [1024 ** 4, '1.0 TiB'],
  [2000 * 1024 ** 4, '2000 TiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(toSizeText(bytes)).toBe(text)
})
