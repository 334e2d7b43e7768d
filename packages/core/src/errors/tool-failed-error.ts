import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `tool-failed`: the tool said so itself. `tool-timeout`: its time was up. `not-started`: the
 * process stopped before the call began.
 */
export type ToolFailedCode = 'tool-failed' | 'tool-timeout' | 'not-started'

const MAX_MESSAGE_LENGTH = 1_000

/** A tool of the application failed. The message is its own and goes to the model. */
export class ToolFailedError extends HelixError {
  override readonly name = 'ToolFailedError'
  readonly transient = false
  readonly code: ToolFailedCode

  constructor(code: ToolFailedCode, detail: string, options: HelixErrorOptions = {}) {
    const cut = detail.length > MAX_MESSAGE_LENGTH
    super(cut ? `${detail.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : detail, options)
    this.code = code
  }

  static override isInstance(value: unknown): value is ToolFailedError {
    return HelixError.isInstance(value) && value.name === 'ToolFailedError'
  }
}
