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
  expect(classifyError(coded(code, message)).isRetryable).toBe(false)
})

const meaning = (thrown: unknown): readonly unknown[] => {
  const { error, isRetryable } = classifyError(thrown)
  return [error.code, error.admitted, error.reason, error.retryAfterMs, isRetryable]
}

it('of capacity and of a deployment no call is made again, and of a start it is', () => {
  const errorResponse = { context: { retryAfterMs: 7 } }
  const full = 'maximum number of running container instances exceeded'
  for (const thrown of [
    Object.assign(new Error(full), { errorResponse }),
    Object.assign(new Error('No container instance available'), { errorResponse }),
  ]) {
    expect(meaning(thrown)).toEqual(['unavailable', 'no', 'capacity', 7, false])
  }
  const upgraded = new Error('This script has been upgraded')
  expect(meaning(upgraded)).toEqual(['replaced', 'unknown', undefined, undefined, false])
  const starting = coded('INTERPRETER_NOT_READY', 'm')
  expect(meaning(Object.assign(starting, { details: { retryAfterMs: 0 } }))).toEqual([
    'unavailable',
    'no',
    'starting',
    0,
    true,
  ])
  for (const retryAfterMs of [-1, '7']) {
    expect(meaning(Object.assign(starting, { details: { retryAfterMs } }))[3]).toBeUndefined()
  }
  const failed = Object.assign(new Error('Container failed to start'), { errorResponse })
  expect(meaning(failed)).toEqual(['unavailable', 'no', 'starting', undefined, true])
  expect(meaning(new Error('odd'))).toEqual(['failed', 'unknown', undefined, undefined, false])
})

it.each([
  ['container_starting', 'starting', true],
  ['container_unhealthy', 'unhealthy', true],
  ['container_replaced', 'starting', true],
  ['rpc_upgrade_failed', 'starting', true],
  ['no_container_instance_available', 'capacity', false],
  ['max_container_instances_exceeded', 'capacity', false],
  ['container_unreachable', 'unhealthy', true],
  ['something_new', 'starting', true],
])('a container that is not available as %s is %s, retryable %s', (given, reason, isRetryable) => {
  const thrown = Object.assign(coded('CONTAINER_UNAVAILABLE', 'm'), { details: { reason: given } })
  const classified = classifyError(thrown)
  expect(classified.error).toMatchObject({ code: 'unavailable', admitted: 'no', reason })
  expect(classified.isRetryable).toBe(isRetryable)
})

it.each([
  [{ reason: 'sandbox_lifetime_changed', admitted: false, retryable: true }, 'no', false],
  [{ reason: 'recovery_exhausted', admitted: 'unknown', retryable: true }, 'unknown', false],
  [{ reason: 'other', admitted: false, retryable: true }, 'no', true],
  [{ reason: 'other', admitted: false, retryable: 'yes' }, 'no', false],
  [{ reason: 'other', admitted: 'unknown' }, 'unknown', true],
  [{ reason: 'other', admitted: 'odd' }, 'unknown', true],
])('an interruption %j', (details, admitted, isRetryable) => {
  const thrown = Object.assign(coded('OPERATION_INTERRUPTED', 'm'), { details })
  const classified = classifyError(thrown)
  expect(classified.error).toMatchObject({ code: 'interrupted', admitted })
  expect([classified.error.reason, classified.isRetryable]).toEqual([undefined, isRetryable])
})

it('a handle of another runtime, a lost connection and a loss by the platform may pass', () => {
  const details = { admitted: false, reason: 'sandbox_lifetime_changed', containerExitCode: 137 }
  for (const thrown of [
    Object.assign(coded('STALE_PROCESS_HANDLE', 'm'), { details }),
    Object.assign(coded('RPC_TRANSPORT_ERROR', 'm'), { details }),
    new Error('Network connection lost.'),
    new Error('disconnected prematurely'),
    new Error('x', { cause: new Error('caused object to be reset') }),
  ]) {
    const { error, isRetryable } = classifyError(thrown)
    expect(error).toMatchObject({ code: 'interrupted', admitted: 'unknown' })
    expect([error.reason, isRetryable]).toEqual([undefined, true])
  }
})

it.each([
  [{ stderr: 'disk: No space left' }, 'storage-full'],
  [{ stderr: '' }, 'denied'],
  [{ stderr: 7 }, 'denied'],
  [undefined, 'denied'],
])('a failure of the file system with %j is %s', (details, code) => {
  const thrown = Object.assign(coded('FILESYSTEM_ERROR', 'EACCES: /f'), { details })
  expect(classifyError(thrown).error).toMatchObject({ code, admitted: 'yes' })
})

it.each([
  ['EISDIR: illegal operation on a directory, open', 'is-directory'],
  ['EEXIST: file already exists, mkdir', 'exists'],
  ['ENAMETOOLONG: name too long, open', 'name-too-long'],
  ['ELOOP: too many symbolic links encountered, open', 'path-escape'],
  ['ENFILE: file table overflow, open', 'storage-full'],
])('an errno in front of a message tells what failed: %s', (message, code) => {
  expect(codeOf('FILESYSTEM_ERROR', message)).toBe(code)
})

it('a command that failed for another reason says nothing of its directory', () => {
  for (const code of ['COMMAND_EXECUTION_ERROR', 'STREAM_START_ERROR']) {
    expect(codeOf(code, 'odd')).not.toBe('directory-missing')
  }
})
