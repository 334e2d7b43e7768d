/**
 * What a driver says went wrong, in words of neither SDK line.
 *
 * - `unavailable`: no container could take the operation now (starting, unhealthy, capacity).
 * - `interrupted`: the connection or the container went away during the operation.
 * - `replaced`: the platform replaced the object by a deploy: nothing in this isolate helps.
 * - `directory-missing`: the working directory is gone, or is not a directory.
 * - `not-found` … `denied`: of a file. `storage-full`: no space or too many files.
 * - `context-missing`, `language-missing`: of the interpreter. `process-missing`: of a process.
 * - `snapshot-missing`, `snapshot-expired`, `snapshot-failed`, `snapshot-too-large`,
 *   `snapshot-elsewhere`: the workspace is a link to what cannot be stored.
 * - `not-configured`: a binding or a variable is missing; `detail` names it.
 * - `destroy-unconfirmed`: the platform did not confirm the end.
 * - `failed`: anything else; see the cause.
 */
export type DriverErrorCode =
  | 'unavailable'
  | 'interrupted'
  | 'replaced'
  | 'directory-missing'
  | 'not-found'
  | 'exists'
  | 'is-directory'
  | 'not-directory'
  | 'not-empty'
  | 'too-large'
  | 'name-too-long'
  | 'read-only'
  | 'denied'
  | 'path-escape'
  | 'version-conflict'
  | 'storage-full'
  | 'context-missing'
  | 'language-missing'
  | 'process-missing'
  | 'snapshot-missing'
  | 'snapshot-expired'
  | 'snapshot-failed'
  | 'snapshot-too-large'
  | 'snapshot-elsewhere'
  | 'not-configured'
  | 'destroy-unconfirmed'
  | 'failed'

/** Whether the container took the operation: `no` means that it certainly did not run. */
export type CallAdmission = 'no' | 'yes' | 'unknown'

/** The details of a {@link DriverError}. */
export interface DriverErrorOptions {
  readonly admitted: CallAdmission
  /** The platform asks to wait so long. */
  readonly retryAfterMs?: number
  /** Why no container was there: of capacity, it also slows further opens. */
  readonly reason?: 'capacity' | 'starting' | 'unhealthy' | 'memory' | 'asleep'
  /** Name of the program that the image does not have. */
  readonly missing?: string
  readonly cause?: unknown
}

/** The only error that leaves a driver. */
export class DriverError extends Error {
  override readonly name = 'DriverError'
  readonly code: DriverErrorCode
  readonly admitted: CallAdmission
  readonly retryAfterMs?: number
  readonly reason?: DriverErrorOptions['reason'] & string
  readonly missing?: string

  constructor(code: DriverErrorCode, detail: string, options: DriverErrorOptions) {
    super(detail, { cause: options.cause })
    this.code = code
    this.admitted = options.admitted
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.reason !== undefined) this.reason = options.reason
    if (options.missing !== undefined) this.missing = options.missing
  }
}

/**
 * Content was cut off on its way. What the platform throws then is no class of this package, and may
 * hold more than it should: it is left out.
 */
export function brokenContent(thrown: unknown): DriverError {
  if (thrown instanceof DriverError) return thrown
  const detail = 'the content did not arrive as a whole'
  return new DriverError('interrupted', detail, { admitted: 'unknown' })
}
