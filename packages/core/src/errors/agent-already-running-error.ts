import { HelixError, type HelixErrorOptions } from './helix-error.ts'

const HINT =
  'Wait for its run, interrupt it or abort it. If its process died, it is free when its lease is out.'

/** A session has one writer: wait for the running one, interrupt it or abort it. */
export class AgentAlreadyRunningError extends HelixError {
  override readonly name = 'AgentAlreadyRunningError'
  readonly code = 'already-running'
  readonly transient = true
  readonly sessionId: string

  constructor(sessionId: string, options: HelixErrorOptions = {}) {
    super(`session ${sessionId} is already running`, { hint: HINT, ...options })
    this.sessionId = sessionId
  }

  static override isInstance(value: unknown): value is AgentAlreadyRunningError {
    return HelixError.isInstance(value) && value.name === 'AgentAlreadyRunningError'
  }
}
