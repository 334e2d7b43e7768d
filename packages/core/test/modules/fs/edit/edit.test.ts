import { applyPatch } from 'diff'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToolInputError } from '../../../../src/errors/tool-input-error.ts'
import { applyEdit, type TextEdit } from '../../../../src/modules/fs/edit/edit.ts'
import { createWorkTurn } from '../../../../src/modules/fs/edit/work-turn.ts'

const apply = async (text: string, edit: TextEdit, maxCharacters = 10_000_000) =>
  applyEdit({ path: '/f', text, maxCharacters, turn: createWorkTurn() }, edit)

const edited = async (text: string, oldText: string, newText: string, replaceAll = false) =>
  (await apply(text, { oldText, newText, replaceAll })).text

async function failure(text: string, edit: TextEdit): Promise<ToolInputError> {
  const error: unknown = await apply(text, edit).catch((thrown: unknown) => thrown)
  if (ToolInputError.isInstance(error)) return error
  throw new Error('it did not fail as it should', { cause: error })
}

describe('applyEdit', () => {
  it.each(['$&', '$$', '$`', "$'", '$1', '$<n>', '\\n', '\\$&'])(
    'takes %s literally',
    async (text) => {
      expect(await edited('a x b', 'x', text)).toBe(`a ${text} b`)
      expect(await edited('a x b x', 'x', text, true)).toBe(`a ${text} b ${text}`)
      expect(await edited(`a ${text} b`, text, 'y')).toBe('a y b')
    },
  )

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
  ])('keeps %s', async (...[, text, oldText, newText, expected]) => {
    expect(await edited(text, oldText, newText)).toBe(expected)
  })

  it('refuses what is not one place', async () => {
    expect((await failure('a', { oldText: '', newText: 'b' })).code).toBe('invalid-input')
    expect((await failure('a', { oldText: 'a', newText: 'a' })).code).toBe('invalid-input')
    const several = await failure('x\nx\ny x', { oldText: 'x', newText: 'b' })
    expect(several.code).toBe('ambiguous-match')
    expect(several.message).toContain('3 times')
    expect(several.message).toContain('lines 1, 2, 3')
  })

  it('shows the nearest lines with their blanks', async () => {
    const text = 'function a() {\n    return 1\n}\n'
    const error = await failure(text, { oldText: '\treturn 1', newText: 'x' })
    expect(error.code).toBe('no-match')
    expect(error.hint).toContain('line 2: ····return·1')
    expect(error.hint).toContain('  →return·1')
    const like = await failure(text, { oldText: 'functoin a() {', newText: 'x' })
    expect(like.hint).toContain('line 1: function·a()·{')
    const none = await failure(text, { oldText: 'zzzz', newText: 'x' })
    expect(none.hint).not.toContain('line 1')
    const large = await failure('abc def\n'.repeat(500_000), {
      oldText: 'qwertyuiop\n',
      newText: '',
    })
    expect(large.code).toBe('no-match')
  })

  it('reports lines and counts', async () => {
    expect(await apply('a\nb\nc\n', { oldText: 'b', newText: 'x\ny' })).toMatchObject({
      replacements: 1,
      lines: [2, 3],
      oldLines: [2, 2],
      diff: '@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c',
    })
    const many = await apply('a a\n'.repeat(50), {
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

  it('is split and join', async () => {
    await fc.assert(
      fc.asyncProperty(texts, someText, texts, async (text, oldText, newText) => {
        fc.pre(text.includes(oldText) && oldText !== newText)
        expect(await edited(text, oldText, newText, true)).toBe(text.split(oldText).join(newText))
      }),
      { numRuns: 1000 },
    )
  })

  it('has a diff that makes the new text from the old one', async () => {
    await fc.assert(
      fc.asyncProperty(texts, someText, texts, async (text, oldText, newText) => {
        const old = `${text}\nend\n`
        fc.pre(oldText !== newText && oldText !== '' && old.includes(oldText))
        fc.pre(old.indexOf(oldText) === old.lastIndexOf(oldText))
        const { diff, text: after } = await apply(old, { oldText, newText })
        fc.pre(after.endsWith('\n'))
        const patched = applyPatch(old, `--- a\n+++ b\n${diff}\n`, {
          autoConvertLineEndings: false,
        })
        expect(patched).toBe(after)
      }),
      { numRuns: 1000 },
    )
  })

  it('finds long texts as short ones', async () => {
    const half = fc.constantFrom('a'.repeat(150), 'b'.repeat(90), 'ab'.repeat(60), 'a')
    const long = fc.array(half, { minLength: 3, maxLength: 12 }).map((list) => list.join(''))
    await fc.assert(
      fc.asyncProperty(long, fc.nat(), fc.nat(), async (text, from, length) => {
        const start = from % text.length
        const oldText = text.slice(start, start + 200 + (length % 200))
        const expected = text.split(oldText).join('-')
        expect(await edited(text, oldText, '-', true)).toBe(expected)
      }),
      { numRuns: 300 },
    )
  })
})

describe('an edit that is not valid', () => {
  const turn = createWorkTurn()
  const issuesOf = async (edit: TextEdit, number?: number) => {
    const file = { path: '/f', text: 'a b', maxCharacters: 100, turn }
    const given = number === undefined ? file : { ...file, number }
    const error: unknown = await applyEdit(given, edit).catch((thrown: unknown) => thrown)
    return (error as ToolInputError).issues
  }

  it.each([
    ['', 'x', 'oldText', 'must not be empty'],
    ['a', 'a', 'newText', 'is the same as oldText'],
  ])(
    '%j to %j names its field, and which of several it is',
    async (oldText, newText, field, message) => {
      const edit = { oldText, newText }
      expect(await issuesOf(edit)).toEqual([{ path: field, message }])
      expect(await issuesOf(edit, 2)).toEqual([{ path: `edits.1.${field}`, message }])
    },
  )
})
