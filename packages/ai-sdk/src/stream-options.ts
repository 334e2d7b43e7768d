import type { UIMessage } from 'ai'

/** Options of `toUIMessageStream`. */
export interface UIMessageStreamOptions {
  /** Id of the message that the chunks make. Default: the id of the run that they begin with. */
  readonly messageId?: string
  /**
   * Text that the user reads for an error of the run, a tool or a sub-agent. Default: its message,
   * which is safe to show.
   */
  readonly errorText?: (error: { readonly code: string; readonly message: string }) => string
  /**
   * The message that a run continues after an answer, as `toUIMessages` shows it: what runs before the
   * one with this id have emitted is left out. Default: the message begins with the stream.
   */
  readonly continues?: { readonly message: UIMessage; readonly runId: string | undefined }
}
