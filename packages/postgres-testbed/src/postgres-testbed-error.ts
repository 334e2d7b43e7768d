/** Why a test server could not do what was asked. */
export type PostgresTestbedErrorCode =
  | 'binaries-missing'
  | 'directory-unusable'
  | 'initialization-failed'
  | 'start-failed'
  | 'user-missing'

/** An error of the test server itself, never of a statement that it ran. */
export class PostgresTestbedError extends Error {
  override readonly name = 'PostgresTestbedError'
  readonly code: PostgresTestbedErrorCode

  constructor(code: PostgresTestbedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
