import { FileSystemError, type FileSystemErrorCode, HelixError } from '@helix-agents/core'

const CODES: ReadonlyMap<string, FileSystemErrorCode> = new Map(
  Object.entries<FileSystemErrorCode>({
    ENOENT: 'not-found',
    ESTALE: 'not-found',
    EEXIST: 'already-exists',
    ENOTDIR: 'not-directory',
    EISDIR: 'is-directory',
    ENOTEMPTY: 'not-empty',
    EACCES: 'permission-denied',
    EPERM: 'permission-denied',
    EBUSY: 'permission-denied',
    ETXTBSY: 'permission-denied',
    ENXIO: 'permission-denied',
    EROFS: 'read-only',
    EFBIG: 'too-large',
    ENOSPC: 'storage-full',
    EDQUOT: 'storage-full',
    EMLINK: 'path-escape',
    ELOOP: 'path-escape',
    ENAMETOOLONG: 'invalid-path',
    EINVAL: 'invalid-path',
    EILSEQ: 'invalid-path',
  }),
)

/** The code of a system error, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** True when nothing is there: the path ends in nothing, or passes through a file. */
export function isMissing(error: unknown): boolean {
  const errno = errnoOf(error)
  return errno === 'ENOENT' || errno === 'ENOTDIR'
}

/**
 * What a system error means to the caller of a file operation. The message names the path of
 * the workspace only; the path of the host stays in `cause`. Other errors pass unchanged.
 */
export function toFileSystemError(error: unknown, path: string): unknown {
  if (HelixError.isInstance(error)) return error
  const code = CODES.get(errnoOf(error) ?? '')
  return code === undefined ? error : new FileSystemError(code, path, { cause: error })
}

/** Rejects what is neither a file nor a directory: reading it could block or do things. */
export function specialFile(path: string): FileSystemError {
  return new FileSystemError('permission-denied', path, {
    detail: 'it is a pipe, a socket or a device',
  })
}
