// What is read of an error of the SDK, and what of it may be told.
import { describe, expect, it } from 'vitest'
import { CODES, meaningOfFileWords } from '../../../src/driver/sdk-0-12/error-codes.ts'
import {
  causesOf,
  describeCause,
  field,
  readErrorShape,
  tellableLine,
} from '../../../src/driver/sdk-0-12/error-shape.ts'

const plain = { code: undefined, name: 'Error', message: 'm', context: undefined }
const marks = { isRetryable: false, isOverloaded: false }

describe('the shape of an error', () => {
  it.each([
    [new Error('m'), plain],
    ['m', plain],
    [undefined, { ...plain, message: '' }],
    [
      { message: '', name: '' },
      { ...plain, message: '' },
    ],
    [new TypeError('m'), { ...plain, name: 'TypeError' }],
    [
      new Error('FileNotFoundError: m'),
      { ...plain, code: 'FILE_NOT_FOUND', name: 'FileNotFoundError' },
    ],
    [new Error('m: n'), { ...plain, message: 'm: n' }],
    [new Error('EISDIR: illegal'), { ...plain, message: 'EISDIR: illegal' }],
    [new TypeError('FileNotFoundError: m'), { ...plain, name: 'TypeError' }],
    [
      { message: 'm', code: 'OWN', details: 7 },
      { ...plain, code: 'OWN', context: 7 },
    ],
    [
      { message: 'm', code: 'OWN', errorResponse: { code: 'THEIRS', context: 8 }, details: 7 },
      { ...plain, code: 'THEIRS', context: 8 },
    ],
    [{ message: 'm', code: 7 }, plain],
  ])('%o', (error, shape) => {
    expect(readErrorShape(error)).toEqual({ ...shape, ...marks })
  })

  it('has the marks of the platform', () => {
    expect(readErrorShape({ retryable: true, overloaded: true })).toMatchObject({
      isRetryable: true,
      isOverloaded: true,
    })
    expect(readErrorShape({ retryable: 1, overloaded: 1 })).toMatchObject(marks)
    const overloaded = new Error('Durable Object is overloaded')
    expect(readErrorShape(overloaded)).toMatchObject({ isRetryable: false, isOverloaded: true })
  })

  it('has the fields of anything, own or inherited', () => {
    expect([field(null, 'a'), field('text', 'length'), field({ a: 1 }, 'a')]).toEqual([
      undefined,
      undefined,
      1,
    ])
    expect(field(new TypeError('m'), 'name')).toBe('TypeError')
  })
})

it('the causes of an error are its chain, eight at most', () => {
  const chain = Array.from({ length: 10 }).reduce<unknown>((cause, _, n) => ({ n, cause }), null)
  expect(causesOf(chain).map((one) => field(one, 'n'))).toEqual([9, 8, 7, 6, 5, 4, 3, 2])
  expect(causesOf(undefined)).toEqual([])
  expect(causesOf('text')).toEqual(['text'])
})

describe('what may be told', () => {
  it.each([
    ['first\nsecond', 'first'],
    ['at https://user:key@host.example/path?sig=1 now', 'at https://host.example now'],
    ['s3://bucket/key', 's3://bucket'],
    ['a://b/c and d://e@f/g', 'a://b and d://f'],
    ['x'.repeat(301), 'x'.repeat(300)],
  ])('of %j', (message, told) => {
    expect(tellableLine(message)).toBe(told)
  })

  it('of an error is its first line and its codes', () => {
    const error = {
      name: 'CommandError',
      message: 'it failed\nwith KEY=secret',
      code: 'C',
      details: { reason: 'r', phase: 'p', command: 'secret' },
    }
    expect(describeCause(error)).toMatchObject({
      name: 'CommandError',
      message: 'it failed (C r p)',
    })
    expect(describeCause(new TypeError('m'))).toMatchObject({ name: 'TypeError', message: 'm' })
    expect(describeCause({ message: 'm', details: { reason: 7 } }).message).toBe('m')
  })
})

describe('words of the file system', () => {
  it.each([
    ['ENOSPC EDQUOT No_space_left Disk_quota_exceeded', 'storage-full'],
    ['EMFILE ENFILE Too_many_open_files', 'storage-full'],
    ['EROFS Read-only_file_system', 'read-only'],
    ['ENAMETOOLONG File_name_too_long', 'name-too-long'],
    ['EFBIG File_too_large', 'too-large'],
    ['EACCES EPERM Permission_denied not_permitted', 'denied'],
    ['ELOOP Too_many_levels_of_symbolic_links', 'path-escape'],
    ['ENOTDIR Not_a_directory', 'not-directory'],
    ['EISDIR Is_a_directory', 'is-directory'],
    ['ENOTEMPTY Directory_not_empty', 'not-empty'],
    ['EEXIST File_exists', 'exists'],
    ['ENOENT No_such_file_or_directory', 'not-found'],
  ])('%s are %s', (words, code) => {
    for (const word of words.split(' ')) {
      const text = `cp: ${word.replaceAll('_', ' ')}: x`
      expect([word, meaningOfFileWords(text)[0]]).toEqual([word, code])
      expect(meaningOfFileWords(text.toLowerCase())[0]).toBe(code)
    }
  })

  it('that nobody knows are a failure', () => {
    expect(meaningOfFileWords('odd')).toEqual(['failed', 'the container could not do it'])
  })

  it('each code has a sentence without a line break', () => {
    for (const [, [, sentence]] of CODES) expect(sentence).toMatch(/^[^\n]{5,}$/)
  })
})

it.each([
  ['ContainerUnavailableError', 'CONTAINER_UNAVAILABLE'],
  ['OperationInterruptedError', 'OPERATION_INTERRUPTED'],
  ['RPCTransportError', 'RPC_TRANSPORT_ERROR'],
  ['SessionTerminatedError', 'SESSION_TERMINATED'],
  ['FileNotFoundError', 'FILE_NOT_FOUND'],
  ['FileExistsError', 'FILE_EXISTS'],
  ['FileTooLargeError', 'FILE_TOO_LARGE'],
  ['FileSystemError', 'FILESYSTEM_ERROR'],
  ['PermissionDeniedError', 'PERMISSION_DENIED'],
  ['CommandError', 'COMMAND_EXECUTION_ERROR'],
  ['CommandNotFoundError', 'COMMAND_NOT_FOUND'],
  ['ContextNotFoundError', 'CONTEXT_NOT_FOUND'],
  ['InterpreterNotReadyError', 'INTERPRETER_NOT_READY'],
  ['CodeExecutionError', 'CODE_EXECUTION_ERROR'],
  ['BackupNotFoundError', 'BACKUP_NOT_FOUND'],
  ['BackupExpiredError', 'BACKUP_EXPIRED'],
  ['BackupCreateError', 'BACKUP_CREATE_FAILED'],
  ['BackupRestoreError', 'BACKUP_RESTORE_FAILED'],
  ['InvalidBackupConfigError', 'INVALID_BACKUP_CONFIG'],
  ['InvalidMountConfigError', 'INVALID_MOUNT_CONFIG'],
  ['MissingCredentialsError', 'MISSING_CREDENTIALS'],
  ['S3FSMountError', 'S3FS_MOUNT_ERROR'],
  ['BucketMountError', 'BUCKET_MOUNT_ERROR'],
  ['ProcessNotFoundError', 'PROCESS_NOT_FOUND'],
])('an error that lost all but its class %s has the code %s', (name, code) => {
  expect(readErrorShape(new Error(`${name}: m`))).toMatchObject({ name, code, message: 'm' })
})
