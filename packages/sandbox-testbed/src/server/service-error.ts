/** Error codes of the SDK that this server answers with. */
export type ServiceErrorCode =
  | 'BACKUP_CREATE_FAILED'
  | 'BACKUP_RESTORE_FAILED'
  | 'CODE_EXECUTION_ERROR'
  | 'COMMAND_EXECUTION_ERROR'
  | 'CONTEXT_NOT_FOUND'
  | 'CONTROL_PROTOCOL_INCOMPATIBLE'
  | 'FILESYSTEM_ERROR'
  | 'FILE_EXISTS'
  | 'FILE_NOT_FOUND'
  | 'FILE_TOO_LARGE'
  | 'GIT_OPERATION_FAILED'
  | 'INTERNAL_ERROR'
  | 'INVALID_PORT'
  | 'IS_DIRECTORY'
  | 'JAVASCRIPT_NOT_AVAILABLE'
  | 'NAME_TOO_LONG'
  | 'NOT_DIRECTORY'
  | 'NO_SPACE'
  | 'PERMISSION_DENIED'
  | 'PROCESS_ERROR'
  | 'PROCESS_NOT_FOUND'
  | 'PROCESS_SPAWN_FAILED'
  | 'PYTHON_NOT_AVAILABLE'
  | 'READ_ONLY'
  | 'RESOURCE_BUSY'
  | 'SESSION_ALREADY_EXISTS'
  | 'SESSION_DESTROYED'
  | 'SESSION_TERMINATED'
  | 'STREAM_START_ERROR'
  | 'TOO_MANY_FILES'
  | 'TOO_MANY_LINKS'
  | 'UNKNOWN_ERROR'
  | 'VALIDATION_FAILED'

/** What the error is about; the SDK shows it as `context`. */
export type ErrorDetails = Record<string, unknown>

/** An error as the SDK expects it on the wire: `code` and `details` are its own properties. */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode
  readonly details: ErrorDetails

  constructor(code: ServiceErrorCode, message: string, details: ErrorDetails = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** The errno name of a system error, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The text of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
