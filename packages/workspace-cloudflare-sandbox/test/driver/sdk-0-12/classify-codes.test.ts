// What the codes of the SDK mean, whatever words come with them.
import { expect, it } from 'vitest'
import { classifyError } from '../../../src/driver/sdk-0-12/classify-error.ts'
import { CODES } from '../../../src/driver/sdk-0-12/error-codes.ts'

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code })
const codeOf = (code: string, message: string): string =>
  classifyError(coded(code, message)).error.code

const told = (code: string, message: string): string =>
  classifyError(coded(code, message)).error.message
const byMeaning = (ours: string): string =>
  [...CODES].find(([, [meaning]]) => meaning === ours)?.[0] ?? ''

it('only of what is not configured the words of the platform are told', () => {
  const configured = byMeaning('not-configured')
  const [, sentence] = CODES.get(configured) ?? []
  expect(told(configured, 'BACKUP_BUCKET is missing')).toContain(`${sentence}: `)
  expect(told(configured, 'BACKUP_BUCKET is missing')).toContain('BACKUP_BUCKET')
  const other = byMeaning('not-found')
  expect(told(other, 'no /secret/path')).toBe(CODES.get(other)?.[1])
})

it.each([
  ['COMMAND_EXECUTION_ERROR', 'ENOENT: no such file, posix_spawn bash', 'directory-missing'],
  ['STREAM_START_ERROR', 'not a directory: spawn', 'directory-missing'],
  ['FILE_NOT_FOUND', 'ENOENT: no such file, posix_spawn bash', 'not-found'],
])('%s with the words %j is %s', (code, message, expected) => {
  expect(codeOf(code, message)).toBe(expected)
})

it('a command that failed for another reason says nothing of its directory', () => {
  for (const code of ['COMMAND_EXECUTION_ERROR', 'STREAM_START_ERROR']) {
    expect(codeOf(code, 'odd')).not.toBe('directory-missing')
  }
})
