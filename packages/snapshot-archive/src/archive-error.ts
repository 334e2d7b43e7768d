import { HelixError } from '@helix-agents/core'

/**
 * `invalid-archive`: it is damaged, cut off, or no archive. `path-escape`: a name is absolute or
 * climbs past the root. `link-escape`: a link may lead out of the root, or an entry lies behind a
 * link. `duplicate-path`: two entries have one path, or a file stands where another entry needs a
 * directory. `unsupported-entry`: a hard link, a device, a pipe, a sparse file or another kind that
 * snapshots do not hold. `too-large`: it exceeds a limit. `target-exists`: the directory to export
 * to is not empty. `repository-failed`: the Git repository or the commit cannot be read.
 */
export type SnapshotArchiveErrorCode =
  | 'invalid-archive'
  | 'path-escape'
  | 'link-escape'
  | 'duplicate-path'
  | 'unsupported-entry'
  | 'too-large'
  | 'target-exists'
  | 'repository-failed'

/** Options of `SnapshotArchiveError`. */
export interface SnapshotArchiveErrorOptions extends ErrorOptions {
  /** What can be done about it, in one sentence. */
  readonly hint?: string
}

/** A snapshot could not be exported or imported; no snapshot was stored. */
export class SnapshotArchiveError extends HelixError {
  override readonly name = 'SnapshotArchiveError'
  readonly transient = false
  readonly code: SnapshotArchiveErrorCode

  constructor(
    code: SnapshotArchiveErrorCode,
    message: string,
    options: SnapshotArchiveErrorOptions = {},
  ) {
    super(message, options)
    this.code = code
  }

  static override isInstance(value: unknown): value is SnapshotArchiveError {
    return HelixError.isInstance(value) && value.name === 'SnapshotArchiveError'
  }
}

/** Control characters become visible, and a hostile name does not flood the message. */
export function showName(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name)
}
