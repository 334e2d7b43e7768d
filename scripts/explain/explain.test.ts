import { expect, test } from 'vitest'
import { type ErrorCode, errorCodes } from '../docs/tables/error-tables.ts'
import { read } from '../repository.ts'
import { explain } from './explain.ts'

const codes: readonly ErrorCode[] = [
  { code: 'not-found', className: 'FileError', meaning: 'No file.', classMeaning: 'Of a file.' },
  { code: 'not-found', className: 'PoolError', meaning: 'No pool.', classMeaning: 'Of a pool.' },
  { code: 'closed', className: 'ClosedError', meaning: 'It is over.', classMeaning: 'It is over.' },
]

test('a code is explained for each class that has it', () => {
  expect(explain('not-found', codes)).toEqual({
    isKnown: true,
    text: `not-found (FileError)
  No file.
  FileError: Of a file.

not-found (PoolError)
  No pool.
  PoolError: Of a pool.

More: docs/guide/errors.md`,
  })
})

test('what a class with one code means is said once', () => {
  expect(explain('closed', codes).text).toContain('closed (ClosedError)\n  It is over.\n\nMore')
})

test('an unknown code names those that share a word with it, else all', () => {
  const unknown = 'There is no error code "file-not-there".\nSimilar codes:\n  not-found'
  expect(explain('file-not-there', codes)).toEqual({ isKnown: false, text: unknown })
  expect(explain('x', codes).text).toContain('Codes:\n  not-found\n  closed')
})

test('every code of the sources is explained as on its page', () => {
  const page = read('docs/guide/errors.md')
  const known = errorCodes()
  for (const { code, className, meaning } of known) {
    const { isKnown, text } = explain(code, known)
    expect([code, isKnown, text.includes(meaning)]).toEqual([code, true, true])
    expect([code, page.includes(`\`${className}\``)]).toEqual([code, true])
  }
})
