import { errnoOf, messageOf, ServiceError, type ServiceErrorCode } from '../service-error.ts'

const CODES: ReadonlyMap<string, ServiceErrorCode> = new Map(
  Object.entries<ServiceErrorCode>({
    ENOENT: 'FILE_NOT_FOUND',
    EEXIST: 'FILE_EXISTS',
    EISDIR: 'IS_DIRECTORY',
    ENOTDIR: 'NOT_DIRECTORY',
    EACCES: 'PERMISSION_DENIED',
    EPERM: 'PERMISSION_DENIED',
    ENAMETOOLONG: 'NAME_TOO_LONG',
    ELOOP: 'TOO_MANY_LINKS',
    EROFS: 'READ_ONLY',
    ENOSPC: 'NO_SPACE',
    EDQUOT: 'NO_SPACE',
    EMFILE: 'TOO_MANY_FILES',
    ENFILE: 'TOO_MANY_FILES',
    EBUSY: 'RESOURCE_BUSY',
    ETXTBSY: 'RESOURCE_BUSY',
  }),
)

/** Where a failure happened. */
export interface FailurePlace {
  readonly operation: string
  readonly path: string
}

/** What the real server calls `FILESYSTEM_ERROR` when it writes. */
const VAGUE_WRITES: ReadonlySet<string> = new Set(['EDQUOT', 'ENOENT', 'ENOSPC', 'ENOTDIR'])

/** A failure to write, in the codes of the protocol. */
export function toWriteError(error: unknown, path: string): ServiceError {
  const place = { operation: 'write', path }
  const isVague = VAGUE_WRITES.has(errnoOf(error) ?? '')
  return isVague ? toolFailure(messageOf(error), place) : toFileError(error, place)
}

/** A system error in the codes of the protocol; an error that has one keeps it. */
export function toFileError(error: unknown, place: FailurePlace): ServiceError {
  if (error instanceof ServiceError) return error
  const code = CODES.get(errnoOf(error) ?? '') ?? 'FILESYSTEM_ERROR'
  return new ServiceError(code, `${place.operation} ${place.path}: ${messageOf(error)}`, {
    ...place,
    stderr: messageOf(error),
  })
}

/** What the real server says when the tool that it runs for an operation fails. */
export function toolFailure(stderr: string, place: FailurePlace): ServiceError {
  const details = { ...place, exitCode: 1, stderr }
  return new ServiceError(
    'FILESYSTEM_ERROR',
    `${place.operation} ${place.path}: ${stderr}`,
    details,
  )
}

export function notFound(place: FailurePlace): ServiceError {
  return new ServiceError('FILE_NOT_FOUND', `file not found: ${place.path}`, { ...place })
}

/** @throws {ServiceError} `VALIDATION_FAILED` for a path that can name nothing. */
export function checkPath(path: unknown): asserts path is string {
  if (typeof path === 'string' && path !== '' && !path.includes('\0')) return
  throw new ServiceError('VALIDATION_FAILED', 'the path is empty or holds a NUL', {
    validationErrors: [{ field: 'path', message: 'invalid path', code: 'INVALID_PATH' }],
  })
}
