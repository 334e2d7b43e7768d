/** Why a test bed could not do what was asked. */
export type SandboxTestbedErrorCode =
  | 'isolation-unavailable'
  | 'engine-unavailable'
  | 'faults-unsupported'
  | 'worker-build-failed'
  | 'sandbox-not-running'

/** An error of the test bed itself, never of the Worker under test. */
export class SandboxTestbedError extends Error {
  override readonly name = 'SandboxTestbedError'
  readonly code: SandboxTestbedErrorCode

  constructor(code: SandboxTestbedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
