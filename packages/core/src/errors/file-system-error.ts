import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/** Codes of `FileSystemError`. */
export type FileSystemErrorCode =
  | 'not-found'
  | 'already-exists'
  | 'is-directory'
  | 'not-directory'
  | 'not-empty'
  | 'permission-denied'
  | 'read-only'
  | 'too-large'
  | 'storage-full'
  | 'path-escape'
  | 'invalid-path'
  | 'invalid-pattern'
  | 'stale-write'
  | 'content-missing'

const SENTENCES: Readonly<Record<FileSystemErrorCode, string>> = {
  'not-found': 'no such file or directory',
  'already-exists': 'it exists already',
  'is-directory': 'it is a directory',
  'not-directory': 'it is not a directory',
  'not-empty': 'the directory is not empty',
  'permission-denied': 'permission denied',
  'read-only': 'it is read-only',
  'too-large': 'it is too large',
  'storage-full': 'the workspace is full',
  'path-escape': 'the path leaves the workspace',
  'invalid-path': 'the path is not valid',
  'invalid-pattern': 'the pattern is not valid',
  'stale-write': 'it changed since it was read',
  'content-missing': 'its stored content is missing or damaged',
}

/** What to do when the place of the error has no better advice. */
const HINTS: Readonly<Partial<Record<FileSystemErrorCode, string>>> = {
  'not-found': 'Look with ls or glob at what is there.',
  'already-exists': 'Choose another path, or remove what is there first.',
  'is-directory': 'Give the path of a file; ls lists a directory.',
  'not-directory': 'Give the path of a directory.',
  'not-empty': 'Set opts.recursive to remove it with all in it.',
  'too-large': 'Use several smaller files.',
  'storage-full': 'Remove files that are not needed any more.',
  'path-escape': 'Use a path below /, the root of the workspace.',
  'stale-write': 'Read the file again, then repeat the change.',
  'content-missing': 'Write the file anew, or remove it; an operator can look for its object.',
}

/** Options of `FileSystemError`. */
export interface FileSystemErrorOptions extends HelixErrorOptions {
  /** More than the code says: a limit and a size, a version. Shown to the model. */
  readonly detail?: string
}

/** A file operation that cannot be done as asked; repeating it changes nothing. */
export class FileSystemError extends HelixError {
  override readonly name = 'FileSystemError'
  readonly transient = false
  readonly code: FileSystemErrorCode
  /** The path as the caller wrote it, in the workspace, never on the host. */
  readonly path: string

  constructor(code: FileSystemErrorCode, path: string, options: FileSystemErrorOptions = {}) {
    const detail = options.detail === undefined ? '' : ` (${options.detail})`
    const hint = options.hint ?? HINTS[code]
    const sentence = `${shorten(path, code)}: ${SENTENCES[code]}${detail}`
    super(sentence, hint === undefined ? options : { ...options, hint })
    this.code = code
    this.path = path
  }

  static override isInstance(value: unknown): value is FileSystemError {
    return HelixError.isInstance(value) && value.name === 'FileSystemError'
  }
}

/** Keeps a hostile path from flooding a message; control characters become visible. */
function shorten(path: string, code: FileSystemErrorCode): string {
  const visible = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path).slice(1, -1)
  if (visible !== '') return visible
  return code === 'invalid-pattern' ? '(empty pattern)' : '(empty path)'
}
