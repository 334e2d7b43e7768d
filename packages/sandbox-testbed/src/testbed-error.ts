/** Why a test bed could not do what was asked. */
export type SandboxTestbedErrorCode =
  | 'directory-unusable'
  | 'engine-unavailable'
  | 'faults-unsupported'
  | 'installation-incomplete'
  | 'isolation-unavailable'
  | 'sandbox-not-running'
  | 'start-aborted'
  | 'worker-build-failed'
  | 'worker-start-failed'

/** An error of the test bed itself, never of the Worker under test. */
export class SandboxTestbedError extends Error {
  override readonly name = 'SandboxTestbedError'
  readonly code: SandboxTestbedErrorCode

  constructor(code: SandboxTestbedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
