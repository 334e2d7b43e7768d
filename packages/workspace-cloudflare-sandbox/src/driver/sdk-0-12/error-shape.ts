/** What can be read of an error of the SDK, whichever way it came over the wire. */
export interface ErrorShape {
  /** Of the SDK's list, when the error has it. */
  readonly code: string | undefined
  readonly name: string
  readonly message: string
  /** More about it; read it with `field`. */
  readonly context: unknown
  /** Marks of the platform. */
  readonly isRetryable: boolean
  readonly isOverloaded: boolean
}

/**
 * Objects with a compatibility date from 2026-04-21 on keep `name` and own properties of their
 * errors; older ones send nothing but a message that starts with the name of the class.
 */
export function readErrorShape(error: unknown): ErrorShape {
  const response = field(error, 'errorResponse')
  const whole = textOf(field(error, 'message')) ?? textOf(error) ?? ''
  const { name, message } = splitName(whole, textOf(field(error, 'name')) ?? 'Error')
  const ownCode = textOf(field(response, 'code')) ?? textOf(field(error, 'code'))
  return {
    code: ownCode ?? CODES_OF_CLASSES.get(name),
    name,
    message,
    context: field(response, 'context') ?? field(error, 'details'),
    isRetryable: field(error, 'retryable') === true,
    isOverloaded: field(error, 'overloaded') === true || whole.includes('is overloaded'),
  }
}

/** A class in front of a message. An errno, in capitals, is a part of it. */
const CLASS = /^([A-Z]\w*[a-z]\w*): /

function splitName(whole: string, ownName: string): { name: string; message: string } {
  const prefix = CLASS.exec(whole)?.[1]
  if (prefix === undefined) return { name: ownName, message: whole }
  const name = ownName === 'Error' ? prefix : ownName
  return { name, message: whole.slice(prefix.length + 2) }
}

/** The error and what caused it, outermost first. */
export function causesOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = []
  for (let at = error; at !== undefined && at !== null && chain.length < MAX_DEPTH;) {
    chain.push(at)
    at = field(at, 'cause')
  }
  return chain
}

const MAX_DEPTH = 8
const TOLD_CHARACTERS = 300
/** Addresses may be signed, and hold keys before the host, in the path or behind it. */
const ADDRESS = /\b([a-z][a-z\d+.-]*:\/\/)(?:[^\s/@]*@)?([^\s/?#'"<>)]*)\S*/gi

/** The first line of a message, with no more of addresses than their host. */
export function tellableLine(message: string): string {
  const [line = message] = message.split('\n')
  return line.replace(ADDRESS, '$1$2').slice(0, TOLD_CHARACTERS)
}

/**
 * What logs may show of an error. Errors of the SDK repeat whole commands, with the variables that
 * are set in them, and signed addresses: only the first line stays, and the codes.
 */
export function describeCause(thrown: unknown): Error {
  const { code, name, message, context } = readErrorShape(thrown)
  const words = [code, field(context, 'reason'), field(context, 'phase')]
  const known = words.filter((word) => typeof word === 'string').join(' ')
  const shown = tellableLine(message)
  const described = new Error(known === '' ? shown : `${shown} (${known})`)
  described.name = name
  return described
}

/** A property of whatever was thrown, own or inherited. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Reflect.get(value, name)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

const CODES_OF_CLASSES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    ContainerUnavailableError: 'CONTAINER_UNAVAILABLE',
    OperationInterruptedError: 'OPERATION_INTERRUPTED',
    RPCTransportError: 'RPC_TRANSPORT_ERROR',
    SessionTerminatedError: 'SESSION_TERMINATED',
    FileNotFoundError: 'FILE_NOT_FOUND',
    FileExistsError: 'FILE_EXISTS',
    FileTooLargeError: 'FILE_TOO_LARGE',
    FileSystemError: 'FILESYSTEM_ERROR',
    PermissionDeniedError: 'PERMISSION_DENIED',
    CommandError: 'COMMAND_EXECUTION_ERROR',
    CommandNotFoundError: 'COMMAND_NOT_FOUND',
    ContextNotFoundError: 'CONTEXT_NOT_FOUND',
    InterpreterNotReadyError: 'INTERPRETER_NOT_READY',
    CodeExecutionError: 'CODE_EXECUTION_ERROR',
    BackupNotFoundError: 'BACKUP_NOT_FOUND',
    BackupExpiredError: 'BACKUP_EXPIRED',
    BackupCreateError: 'BACKUP_CREATE_FAILED',
    BackupRestoreError: 'BACKUP_RESTORE_FAILED',
    InvalidBackupConfigError: 'INVALID_BACKUP_CONFIG',
    InvalidMountConfigError: 'INVALID_MOUNT_CONFIG',
    MissingCredentialsError: 'MISSING_CREDENTIALS',
    S3FSMountError: 'S3FS_MOUNT_ERROR',
    BucketMountError: 'BUCKET_MOUNT_ERROR',
    ProcessNotFoundError: 'PROCESS_NOT_FOUND',
  }),
)
