import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainTerminalText } from '../../../src/modules/shell/output/terminal-text.ts'

test.each([
  ['plain\ttext\r\n', 'plain\ttext\r\n'],
  ['\u001B[31mred\u001B[0m', 'red'],
  ['\u001B[1;38;5;200mx\u001B[K', 'x'],
  ['\u001B]0;title\u0007x', 'x'],
  ['\u001B]8;;http://a\u001B\\link\u001B]8;;\u001B\\', 'link'],
  ['\u001B(Bx\u001B=y\u001BMz', 'xyz'],
  ['\u001B[?25lx\u001B[?25h', 'x'],
  ['a\0b\u0007c\u007F', 'a\u2400b\u2407c\u2421'],
  ['\u001B', '\u241B'],
])('%j becomes %j', (text, plain) => {
  expect(plainTerminalText(text)).toBe(plain)
})

test('property: no control character is left but tabs and line ends', () => {
  const noise = fc.string({
    unit: fc.constantFrom(...Array.from('\u001B[]0;m?\u0007\\(Bab\0\n\t\r')),
  })
  fc.assert(
    fc.property(noise, (text) => {
      // eslint-disable-next-line no-control-regex
      expect(plainTerminalText(text)).not.toMatch(/[\0-\u0008\u000B\u000C\u000E-\u001F\u007F]/)
    }),
  )
})

test('unfinished sequences cost linear time', () => {
  const text = '\u001B]'.repeat(200_000) + '\u001B['.repeat(200_000)
  expect(plainTerminalText(text)).not.toContain('\u001B')
})
