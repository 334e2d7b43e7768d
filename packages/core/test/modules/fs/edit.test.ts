import { applyPatch } from 'diff'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToolInputError } from '../../../src/errors/tool-input-error.ts'
import { applyEdit, type TextEdit } from '../../../src/modules/fs/edit.ts'

const edited = (text: string, oldText: string, newText: string, replaceAll = false): string =>
  applyEdit('/f', text, { oldText, newText, replaceAll }).text

function failure(text: string, edit: TextEdit): ToolInputError {
  try {
    applyEdit('/f', text, edit)
  } catch (error) {
    if (ToolInputError.isInstance(error)) return error
    throw error
  }
  throw new Error('it did not fail')
}

describe('applyEdit', () => {
  it.each(['$&', '$$', '$`', "$'", '$1', '$<n>', '\\n', '\\$&'])('takes %s literally', (text) => {
    expect(edited('a x b', 'x', text)).toBe(`a ${text} b`)
    expect(edited('a x b x', 'x', text, true)).toBe(`a ${text} b ${text}`)
    expect(edited(`a ${text} b`, text, 'y')).toBe('a y b')
  })

  it.each([
    ['CRLF by the file', 'a\r\nb\r\nc', 'a\nb', 'x\ny', 'x\r\ny\r\nc'],
    ['CRLF for new lines within a line', 'a\r\nb', 'b', 'x\ny', 'a\r\nx\r\ny'],
    ['CRLF where the text starts with a line feed', 'a\r\nb', '\nb', '\nx\ny', 'a\r\nx\r\ny'],
    ['LF where the text starts with a line feed', 'a\nb', '\nb', '\nx\ny', 'a\nx\ny'],
    ['CRLF sent by the model', 'a\r\nb', 'a\r\nb', 'x\r\ny', 'x\r\ny'],
    ['LF stays LF', 'a\nb', 'b', 'x\ny', 'a\nx\ny'],
    ['mixed ends, LF place', 'a\nb\r\nc\nd', 'c\nd', 'x\ny', 'a\nb\r\nx\ny'],
    ['BOM', '\uFEFFa\nb', 'a', 'x', '\uFEFFx\nb'],
    ['missing final newline', 'a\nb', 'b', 'x', 'a\nx'],
    ['the whole text', 'a', 'a', '', ''],
    ['lone CR is text', 'a\rb\n', 'a\rb', 'x', 'x\n'],
  ])('keeps %s', (...[, text, oldText, newText, expected]) => {
    expect(edited(text, oldText, newText)).toBe(expected)
  })

  it('refuses what is not one place', () => {
    expect(failure('a', { oldText: '', newText: 'b' }).code).toBe('invalid-input')
    expect(failure('a', { oldText: 'a', newText: 'a' }).code).toBe('invalid-input')
    const several = failure('x\nx\ny x', { oldText: 'x', newText: 'b' })
    expect(several.code).toBe('ambiguous-match')
    expect(several.message).toContain('3 times')
    expect(several.message).toContain('lines 1, 2, 3')
  })

  it('shows the nearest lines with their blanks', () => {
    const text = 'function a() {\n    return 1\n}\n'
    const error = failure(text, { oldText: '\treturn 1', newText: 'x' })
    expect(error.code).toBe('no-match')
    expect(error.hint).toContain('line 2: ····return·1')
    expect(error.hint).toContain('  →return·1')
    const like = failure(text, { oldText: 'functoin a() {', newText: 'x' })
    expect(like.hint).toContain('line 1: function·a()·{')
    const none = failure(text, { oldText: 'zzzz', newText: 'x' })
    expect(none.hint).not.toContain('line 1')
    const large = failure('abc def\n'.repeat(500_000), { oldText: 'qwertyuiop\n', newText: '' })
    expect(large.code).toBe('no-match')
  })

  it('reports lines and counts', () => {
    expect(applyEdit('/f', 'a\nb\nc\n', { oldText: 'b', newText: 'x\ny' })).toMatchObject({
      replacements: 1,
      lines: [2, 3],
      oldLines: [2, 2],
      diff: '@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c',
    })
    const many = applyEdit('/f', 'a a\n'.repeat(50), {
      oldText: 'a',
      newText: 'b',
      replaceAll: true,
    })
    expect(many.replacements).toBe(100)
    expect(many.diff.match(/^@@/gm)).toHaveLength(10)
    expect(many.diff).toContain('80 more places')
  })

  const piece = fc.constantFrom('a', 'b', '\n', ' ', '$&', '$1', 'ab')
  const texts = fc.array(piece, { maxLength: 20 }).map((list) => list.join(''))
  const someText = fc.array(piece, { minLength: 1, maxLength: 3 }).map((list) => list.join(''))

  it('is split and join', () => {
    fc.assert(
      fc.property(texts, someText, texts, (text, oldText, newText) => {
        fc.pre(text.includes(oldText) && oldText !== newText)
        expect(edited(text, oldText, newText, true)).toBe(text.split(oldText).join(newText))
      }),
      { numRuns: 1000 },
    )
  })

  it('has a diff that makes the new text from the old one', () => {
    fc.assert(
      fc.property(texts, someText, texts, (text, oldText, newText) => {
        const old = `${text}\nend\n`
        fc.pre(oldText !== newText && old.split(oldText).length === 2)
        const { diff, text: after } = applyEdit('/f', old, { oldText, newText })
        fc.pre(after.endsWith('\n'))
        const patched = applyPatch(old, `--- a\n+++ b\n${diff}\n`, {
          autoConvertLineEndings: false,
        })
        expect(patched).toBe(after)
      }),
      { numRuns: 1000 },
    )
  })
})
