import { FileSystemError, type FileSystemErrorCode } from '@helix-agents/core'
import { expect, test } from 'vitest'

const CODES: Readonly<Record<FileSystemErrorCode, true>> = {
  'not-found': true,
  'already-exists': true,
  'is-directory': true,
  'not-directory': true,
  'not-empty': true,
  'permission-denied': true,
  'read-only': true,
  'too-large': true,
  'storage-full': true,
  'path-escape': true,
  'invalid-path': true,
  'invalid-pattern': true,
  'stale-write': true,
  'content-missing': true,
}

test('each code has its sentence, and advice where there is a general one', async () => {
  const lines = Object.keys(CODES).map((code) => {
    const { message, hint, transient } = new FileSystemError(code as FileSystemErrorCode, '/a')
    return `${code}${transient ? ' (transient)' : ''}: ${message} | ${hint ?? 'no advice'}`
  })
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('file-system-errors.txt')
})

test('what the place of the error knows better goes before the general words', () => {
  const cause = new Error('inner')
  const error = new FileSystemError('too-large', '/a', { detail: '9 of 8', hint: 'Split.', cause })
  expect(error).toMatchObject({ code: 'too-large', path: '/a', hint: 'Split.', cause })
  expect(error.message).toContain('/a: it is too large (9 of 8)')
  expect(FileSystemError.isInstance(error)).toBe(true)
  expect(FileSystemError.isInstance(cause)).toBe(false)
})

test.each([
  ['/a\nb\u0000', String.raw`/a\nb\u0000: `],
  ['p'.repeat(200), `${'p'.repeat(200)}: `],
  ['p'.repeat(201), `${'p'.repeat(200)}…: `],
  ['', '(empty path): '],
])('the path %j is shown in one short line', (path, start) => {
  const error = new FileSystemError('not-found', path)
  expect(error.message.startsWith(`${start}no such file or directory`)).toBe(true)
  expect(error.path).toBe(path)
})

test('an empty pattern is called one', () => {
  expect(new FileSystemError('invalid-pattern', '').message).toMatch(/^\(empty pattern\): /u)
})
