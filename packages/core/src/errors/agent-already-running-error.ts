import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/** A session has one writer: wait for the running one, interrupt it or abort it. */
export class AgentAlreadyRunningError extends HelixError {
  override readonly name = 'AgentAlreadyRunningError'
  readonly code = 'already-running'
  readonly transient = true
  readonly sessionId: string

  constructor(sessionId: string, options: HelixErrorOptions = {}) {
    super(`session ${sessionId} is already running`, options)
    this.sessionId = sessionId
  }

  static override isInstance(value: unknown): value is AgentAlreadyRunningError {
    return HelixError.isInstance(value) && value.name === 'AgentAlreadyRunningError'
  }
}
