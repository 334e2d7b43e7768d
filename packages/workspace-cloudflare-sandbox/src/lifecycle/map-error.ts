import {
  FileSystemError,
  type FileSystemErrorCode,
  HelixError,
  ToolInputError,
  WorkspaceEvictedError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import { DriverError, type DriverErrorCode } from '../driver/driver-error.ts'

/** Codes about a file. */
const FILE_CODES: Readonly<Partial<Record<DriverErrorCode, FileSystemErrorCode>>> = {
  'not-found': 'not-found',
  exists: 'already-exists',
  'is-directory': 'is-directory',
  'not-directory': 'not-directory',
  'not-empty': 'not-empty',
  'too-large': 'too-large',
  'name-too-long': 'invalid-path',
  'read-only': 'read-only',
  denied: 'permission-denied',
  'path-escape': 'path-escape',
  'version-conflict': 'stale-write',
  'storage-full': 'storage-full',
}

type Translate = (error: DriverError) => HelixError

const TRANSLATIONS: Readonly<Partial<Record<DriverErrorCode, Translate>>> = {
  unavailable: (cause) => (cause.admitted === 'no' ? evicted(cause) : unavailable(cause)),
  interrupted: evicted,
  replaced: evicted,
  'directory-missing': (cause) =>
    new WorkspaceFailedError(
      'working-directory-missing',
      'the working directory is missing or not a directory',
      { cause, hint: DIRECTORY_HINT },
    ),
  'context-missing': (cause) =>
    new ToolInputError('invalid-input', 'there is no code context of this id any more', {
      cause,
      hint: 'Create a new context and run again what it needs.',
    }),
  'process-missing': (cause) =>
    new ToolInputError('invalid-input', 'there is no background process of this id any more', {
      cause,
      hint: 'Background processes end with the container; list those that run.',
    }),
  'language-missing': (cause) =>
    new WorkspaceFailedError('capability-missing', missingProgram(cause), {
      cause,
      hint: `Use another language. ${INSTALL.get(cause.missing) ?? ''}`.trim(),
    }),
  'snapshot-missing': (cause) => noSnapshot('the snapshot does not exist any more', cause),
  'snapshot-expired': (cause) => noSnapshot('the snapshot has expired', cause),
  'snapshot-failed': (cause) => failed('the snapshot could not be taken or restored', cause),
  'snapshot-too-large': (cause) => noSnapshot('the snapshot is over the limit of a restore', cause),
  'snapshot-elsewhere': (cause) =>
    failed('the workspace is a link to a place of which there are no snapshots', cause, {
      hint: 'Keep the files in /workspace itself, or below /home, /tmp, /var/tmp or /app.',
    }),
  'not-configured': (cause) =>
    new WorkspaceFailedError('config-invalid', `the sandbox is not set up: ${cause.message}`, {
      cause,
      hint: 'An operator must add what is missing to the Worker.',
    }),
  'destroy-unconfirmed': (cause) =>
    failed('the platform did not confirm the end of the sandbox', cause, { transient: true }),
}

/** What an operator does about an interpreter that the image does not have. */
const INSTALL: ReadonlyMap<string | undefined, string> = new Map(
  Object.entries<string>({
    python3:
      'An operator must install Python in the Dockerfile: the image of the SDK has it with the tag that ends in -python.',
    node: 'An operator must install Node 24 in the Dockerfile: the image of the SDK has it.',
    bun: 'An operator must install Node 22.13 or newer, or Bun, in the Dockerfile: the image of the SDK has both.',
  }),
)

function missingProgram({ missing }: DriverError): string {
  return missing === undefined
    ? 'the image of the sandbox has no interpreter for it'
    : `the image of the sandbox has no ${missing}`
}

const DIRECTORY_HINT = 'Make the directory, or use another one.'

/**
 * What the error of a driver means to the caller of an operation. The words are ours: what a
 * driver says may name paths and ids of the container, and stays in `cause`.
 * @param path Of the workspace, for errors about a file.
 */
export function toWorkspaceError(error: unknown, path = '/'): unknown {
  if (HelixError.isInstance(error) || !(error instanceof DriverError)) return error
  const fileCode = FILE_CODES[error.code]
  if (fileCode !== undefined) return new FileSystemError(fileCode, path, { cause: error })
  return TRANSLATIONS[error.code]?.(error) ?? failed('the sandbox could not do it', error)
}

/**
 * The same for an open or a resolve, where nothing is lost yet: what may pass is transient, and
 * says how long to wait.
 */
export function toOpenError(error: unknown): unknown {
  if (!(error instanceof DriverError)) return error
  if (!PASSING.has(error.code)) return toWorkspaceError(error)
  return unavailable(error)
}

const PASSING: ReadonlySet<DriverErrorCode> = new Set(['unavailable', 'interrupted', 'replaced'])

/** Whether the platform had no room for another container. */
export function isCapacityError(error: unknown): boolean {
  return error instanceof DriverError && error.code === 'unavailable' && error.reason === 'capacity'
}

function unavailable(cause: DriverError): WorkspaceFailedError {
  const hint =
    cause.reason === 'memory'
      ? 'It ran out of memory: use less of it at once.'
      : 'It may pass: try again later.'
  return failed('the sandbox is not available now', cause, { transient: true, hint })
}

function evicted(cause: DriverError): WorkspaceEvictedError {
  return new WorkspaceEvictedError('the sandbox went away', {
    cause,
    admitted: cause.admitted === 'no' ? 'no' : 'unknown',
    ...(cause.reason === 'memory' && { hint: 'It ran out of memory: use less of it at once.' }),
  })
}

function noSnapshot(sentence: string, cause: DriverError): WorkspaceFailedError {
  return failed(sentence, cause, { hint: 'Take a new snapshot.' })
}

function failed(
  sentence: string,
  cause: DriverError,
  options: { readonly transient?: boolean; readonly hint?: string } = {},
): WorkspaceFailedError {
  const { retryAfterMs } = cause
  return new WorkspaceFailedError('provider-failed', sentence, {
    cause,
    ...options,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}
