import type { DriverErrorCode } from '../driver-error.ts'

type Meaning = readonly [code: DriverErrorCode, sentence: string]

/** Codes that say by themselves what happened: the container took the call and answered. */
export const CODES: ReadonlyMap<string, Meaning> = new Map(
  Object.entries<Meaning>({
    FILE_NOT_FOUND: ['not-found', 'nothing has this path'],
    IS_DIRECTORY: ['is-directory', 'this is a directory'],
    NOT_DIRECTORY: ['not-directory', 'this is no directory'],
    FILE_EXISTS: ['exists', 'something has this path already'],
    PERMISSION_DENIED: ['denied', 'permission denied'],
    COMMAND_PERMISSION_DENIED: ['denied', 'permission denied'],
    PROCESS_PERMISSION_DENIED: ['denied', 'permission denied'],
    NAME_TOO_LONG: ['name-too-long', 'the name is too long'],
    TOO_MANY_LINKS: ['path-escape', 'too many links'],
    READ_ONLY: ['read-only', 'the file system is read-only'],
    FILE_TOO_LARGE: ['too-large', 'the file is larger than allowed'],
    NO_SPACE: ['storage-full', 'no space is left in the container'],
    TOO_MANY_FILES: ['storage-full', 'too many files are open in the container'],
    PROCESS_NOT_FOUND: ['process-missing', 'no process has this id'],
    CONTEXT_NOT_FOUND: ['context-missing', 'the code context is gone: make another one'],
    PYTHON_NOT_AVAILABLE: ['language-missing', 'the image of the container has no Python'],
    JAVASCRIPT_NOT_AVAILABLE: ['language-missing', 'the image of the container has no JavaScript'],
    BACKUP_NOT_FOUND: ['snapshot-missing', 'the snapshot does not exist any more'],
    BACKUP_EXPIRED: ['snapshot-expired', 'the snapshot has expired'],
    BACKUP_CREATE_FAILED: ['snapshot-failed', 'the snapshot could not be taken'],
    BACKUP_RESTORE_FAILED: ['snapshot-failed', 'the snapshot could not be restored'],
    INVALID_BACKUP_CONFIG: ['not-configured', 'snapshots are not configured'],
    INVALID_MOUNT_CONFIG: ['not-configured', 'the mount is not configured'],
    MISSING_CREDENTIALS: ['not-configured', 'the credentials of the mount are missing'],
    S3FS_MOUNT_ERROR: ['failed', 'the bucket could not be mounted'],
    BUCKET_MOUNT_ERROR: ['failed', 'the bucket could not be mounted'],
    BUCKET_UNMOUNT_ERROR: ['failed', 'the bucket could not be unmounted'],
    RESOURCE_BUSY: ['failed', 'the file is in use'],
    COMMAND_NOT_FOUND: ['failed', 'the container has no such command'],
    INVALID_COMMAND: ['failed', 'the container took no such command'],
    CODE_EXECUTION_ERROR: ['failed', 'the container could not run the code'],
    PROCESS_ERROR: ['failed', 'the container could not do it with the process'],
    VALIDATION_FAILED: ['failed', 'the container took no such request'],
    PROCESS_SPAWN_FAILED: ['failed', 'the container could not start the command'],
    INVALID_PROCESS_CWD: ['failed', 'the container could not start the command'],
    INVALID_PROCESS_ENVIRONMENT: ['failed', 'the container could not start the command'],
    CONTROL_PROTOCOL_INCOMPATIBLE: ['not-configured', 'the image is not of the version of the SDK'],
  }),
)

/** Codes that are handled by the rest of the error. */
export const TELLING_CODES: ReadonlySet<string> = new Set([
  'COMMAND_EXECUTION_ERROR',
  'CONTAINER_UNAVAILABLE',
  'FILESYSTEM_ERROR',
  'INTERPRETER_NOT_READY',
  'OPERATION_INTERRUPTED',
  'RPC_TRANSPORT_ERROR',
  'STALE_PROCESS_HANDLE',
  'STREAM_START_ERROR',
])

/**
 * Codes that say nothing about whether the operation ran, or that belong to calls which are never
 * made: whatever comes with one is `failed`, admitted `unknown`.
 */
export const UNKNOWN_CODES: ReadonlySet<string> = new Set([
  'CUSTOM_DOMAIN_REQUIRED',
  'GIT_AUTH_FAILED',
  'GIT_BRANCH_NOT_FOUND',
  'GIT_CHECKOUT_FAILED',
  'GIT_CLONE_FAILED',
  'GIT_NETWORK_ERROR',
  'GIT_OPERATION_FAILED',
  'GIT_REPOSITORY_NOT_FOUND',
  'INTERNAL_ERROR',
  'INVALID_GIT_URL',
  'INVALID_JSON_RESPONSE',
  'INVALID_PORT',
  'INVALID_PORT_NUMBER',
  'INVALID_PROCESS_CURSOR',
  'INVALID_TERMINAL_CURSOR',
  'INVALID_TERMINAL_CWD',
  'OPENCODE_STARTUP_FAILED',
  'PORT_ALREADY_EXPOSED',
  'PORT_IN_USE',
  'PORT_NOT_EXPOSED',
  'PORT_OPERATION_ERROR',
  'PROCESS_ABORTED',
  'PROCESS_EXITED_BEFORE_LOG',
  'PROCESS_EXITED_BEFORE_READY',
  'PROCESS_READY_TIMEOUT',
  'PROCESS_WAIT_TIMEOUT',
  'SERVICE_NOT_RESPONDING',
  'SESSION_ALREADY_EXISTS',
  'SESSION_DESTROYED',
  'SESSION_TERMINATED',
  'STALE_TERMINAL_HANDLE',
  'TERMINAL_CONTROL_ERROR',
  'TERMINAL_NOT_FOUND',
  'UNKNOWN_ERROR',
  'WATCH_NOT_FOUND',
  'WATCH_START_ERROR',
  'WATCH_STOP_ERROR',
])

/** What an error of the file system says, as an errno or in the words of the C library. */
const FILE_WORDS: readonly (readonly [RegExp, Meaning])[] = [
  [/ENOSPC|EDQUOT|No space left|Disk quota exceeded/i, ['storage-full', 'no space is left']],
  [/EMFILE|ENFILE|Too many open files/i, ['storage-full', 'too many files are open']],
  [/EROFS|Read-only file system/i, ['read-only', 'the file system is read-only']],
  [/ENAMETOOLONG|File name too long/i, ['name-too-long', 'the name is too long']],
  [/EFBIG|File too large/i, ['too-large', 'the file is larger than allowed']],
  [/EACCES|EPERM|Permission denied|not permitted/i, ['denied', 'permission denied']],
  [/ELOOP|Too many levels of symbolic links/i, ['path-escape', 'too many links']],
  [/ENOTDIR|Not a directory/i, ['not-directory', 'this is no directory']],
  [/EISDIR|Is a directory/i, ['is-directory', 'this is a directory']],
  [/ENOTEMPTY|Directory not empty/i, ['not-empty', 'the directory is not empty']],
  [/EEXIST|File exists/i, ['exists', 'something has this path already']],
  [/ENOENT|No such file or directory/i, ['not-found', 'nothing has this path']],
]

/** The meaning of `FILESYSTEM_ERROR`, which covers what the server did not distinguish. */
export function meaningOfFileWords(text: string): Meaning {
  const known = FILE_WORDS.find(([pattern]) => pattern.test(text))
  return known?.[1] ?? ['failed', 'the container could not do it']
}
