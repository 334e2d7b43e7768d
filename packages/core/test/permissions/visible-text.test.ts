import fc from 'fast-check'
import { expect, test } from 'vitest'
import { visibleLine, visibleText } from '../../src/permissions/visible-text.ts'

test.each([
  ['rm \u202Etxt.exe', 'rm ⟨U+202E⟩txt.exe'],
  ['a\u200Bb\u200Dc\u2060d\uFEFFe', 'a⟨U+200B⟩b⟨U+200D⟩c⟨U+2060⟩d⟨U+FEFF⟩e'],
  ['\u001B[2Jcleared\u0007', '⟨U+001B⟩[2Jcleared⟨U+0007⟩'],
  ['one\r\ntwo', 'one⟨U+000D⟩\ntwo'],
  ['a\u00A0b\u3000c\u2028d', 'a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2028⟩d'],
  ['soft\u00ADhyphen', 'soft⟨U+00AD⟩hyphen'],
  ['tag\u{E0041}\u{E0042}', 'tag⟨U+E0041⟩⟨U+E0042⟩'],
  ['half \uD83D pair', 'half ⟨U+D83D⟩ pair'],
  ['\u3164filler', '⟨U+3164⟩filler'],
  ['p\u0430ypal.com', 'p⟨U+0430⟩ypal.com'],
  ['\u03BFpen', '⟨U+03BF⟩pen'],
  ['ｃｕｒｌ', '⟨U+FF43⟩⟨U+FF55⟩⟨U+FF52⟩⟨U+FF4C⟩'],
  ['\u{1D41C}url', '⟨U+1D41C⟩url'],
])('%j is shown as %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown)
})

test.each([
  'plain text\n\tof two lines',
  'Grüße aus Köln',
  'привет, как дела',
  '日本語のテキスト',
  'שלום',
  'ok 👩\u200D💻 ❤\uFE0F',
])('%s stays as it is', (text) => {
  expect(visibleText(text)).toBe(text)
})

test('in a command or a path a whole word of look-alike letters is shown, too', () => {
  expect(visibleText('сору')).toBe('сору')
  expect(visibleLine('сору /отчёт')).toBe('⟨U+0441⟩⟨U+043E⟩⟨U+0440⟩⟨U+0443⟩ /отчёт')
  expect(visibleLine('что делать с файлом?')).toBe('что делать с файлом?')
  expect(visibleLine('a\nb\tc')).toBe('a⟨U+000A⟩b⟨U+0009⟩c')
})

test('nothing that a terminal or a browser acts upon gets through', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      // eslint-disable-next-line no-control-regex -- that is the point
      expect(visibleLine(text)).not.toMatch(
        /[\p{Cc}\p{Cs}\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069]/u,
      )
    }),
    { numRuns: 500 },
  )
})
